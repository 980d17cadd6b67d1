import Broker
import Home
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// What an OpenThread Border Router is asked over its REST interface, on the caller's thread.
package struct OTBRClient: Sendable {
  let address: HTTPAddress
  /// For each request, with the look-up of a name.
  let timeout: Duration
  /// Whose programs may listen at the address, where that is on this machine.
  let users: Set<UInt32>
  let signal: WakeSignal?

  package init(
    _ address: HTTPAddress, of users: Set<UInt32>, timeout: Duration = .seconds(5), signal: WakeSignal? = nil
  ) { (self.address, self.users, self.timeout, self.signal) = (address, users, timeout, signal) }

  /// - Parameter isFinished: whether it is answered even when the agent stops meanwhile: what has begun to change a
  ///   router is finished.
  func perform(_ request: HTTPRequest, isFinished: Bool = false, over connection: HTTPConnection? = nil)
    throws(HTTPFailure) -> HTTPAnswer
  {
    try HTTPTransfer(address, of: users).perform(
      request, within: timeout, until: isFinished ? nil : signal, over: connection)
  }

  /// Looks at the router, over one connection where the router keeps it.
  func look(_ reader: inout RouterReader, isFinished: Bool = false) throws(HTTPFailure) -> RouterLook {
    let connection = HTTPConnection()
    return try reader.look { request throws(HTTPFailure) in
      try perform(request, isFinished: isFinished, over: connection)
    }
  }
}

extension HTTPRequest {
  /// `GET` below `/node`.
  static func node(_ path: String = "", accept: String = "application/json") -> HTTPRequest {
    HTTPRequest(path: "/node" + path, accept: accept)
  }

  /// Starts or stops Thread: 200.
  static func setThread(enabled: Bool) -> HTTPRequest {
    HTTPRequest(method: .put, path: "/node/state", body: Array((enabled ? "\"enable\"" : "\"disable\"").utf8))
  }

  /// 200, 201 for the first one; 409 while Thread runs.
  static func setActive(_ dataset: OperationalDataset) -> HTTPRequest {
    HTTPRequest(method: .put, path: "/node/dataset/active", contentType: "text/plain", body: Array(dataset.hex.utf8))
  }

  /// 200 or 201.
  static func setPending(_ dataset: OperationalDataset) -> HTTPRequest {
    HTTPRequest(method: .put, path: "/node/dataset/pending", contentType: "text/plain", body: Array(dataset.hex.utf8))
  }
}

/// The object at `/node` of an OpenThread Border Router, whose keys are `baId` since 2025 and `BaId` before.
///
/// A key that is absent, or has a value of another form, is nil: older routers have fewer.
struct OTBRNode: Equatable, Sendable {
  var agent: BorderAgentID?
  /// 16 hex digits in lower case.
  var extendedAddress: String?
  var state: ThreadState?
  /// Where the router is, whatever its dataset says.
  var network: ExtendedPANID?
  var networkName: String?
  /// How many routers its partition has, itself among them; 0 while it is on none.
  var routers: UInt64?
  /// The partition that it was in last: it stays while the router is on none.
  var partition: UInt32?

  /// The most objects and arrays within each other in an answer; real ones have two.
  static let nesting = 8

  init() {}

  /// - Throws: `RESTFlaw` when it is no JSON object.
  init(reading body: [UInt8]) throws(RESTFlaw) {
    var node = OTBRNode()
    let isObject = try? UntrustedJSON.readMembers(of: body, depth: Self.nesting) { member in node.take(member) }
    guard isObject == true else { throw RESTFlaw("/node is no JSON object") }
    self = node
  }

  private mutating func take(_ member: JSONMember) {
    guard let name = member.name.text, let first = name.first else { return }
    let value = RESTValue(member.value)
    switch first.lowercased() + name.dropFirst() {
    case "baId": agent = value.text.flatMap { BorderAgentID(hex: $0) }
    case "extAddress": extendedAddress = value.extendedAddress
    case "state": state = value.threadState
    case "extPanId": network = value.text.flatMap { ExtendedPANID(hex: $0) }
    case "networkName": networkName = value.text
    case "routerCount", "numOfRouter": if case .number(let count) = value { routers = count }
    case "leaderData": partition = Self.partition(of: Array(member.source))
    default: break
    }
  }

  private static func partition(of leaderData: [UInt8]) -> UInt32? {
    var partition: UInt32?
    _ = try? UntrustedJSON.readMembers(of: leaderData, depth: nesting) { member in
      guard member.name.text?.lowercased() == "partitionid", case .number(let number) = RESTValue(member.value) else {
        return
      }
      partition = UInt32(exactly: number)
    }
    return partition
  }
}

/// A single JSON value: a text, a whole number, or something else.
enum RESTValue: Equatable {
  case text(String)
  case number(UInt64)
  case other

  init(_ value: JSONMember.Value) {
    switch value {
    case .string(let string): self = string.text.map { .text($0) } ?? .other
    case .number(let number): self = number.unsigned.map { .number($0) } ?? .other
    default: self = .other
    }
  }

  /// - Parameter body: a JSON text such as `"leader"`, with white space around it.
  init(reading body: [UInt8]) {
    var result = Self.other
    // As a member, since only those are handed out.
    let wrapped = Array(#"{"v":"#.utf8) + body + Array("}".utf8)
    var count = 0
    let isObject = try? UntrustedJSON.readMembers(of: wrapped, depth: OTBRNode.nesting) {
      count += 1
      result = Self($0.value)
    }
    self = isObject == true && count == 1 ? result : .other
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }

  /// 16 hex digits, in lower case.
  var extendedAddress: String? {
    guard let text, text.utf8.count == 16, let id = BorderAgentID(hex: text) else { return nil }
    return id.description
  }

  /// Old versions have its number.
  var threadState: ThreadState? {
    switch self {
    case .text(let text): ThreadState(word: text.lowercased())
    case .number(let number) where number < ThreadState.allCases.count: ThreadState.allCases[Int(number)]
    default: nil
    }
  }
}

/// An answer that says nothing: another status than expected, or another form.
struct RESTFlaw: Error, Equatable, Sendable, CustomStringConvertible {
  /// One sentence that repeats nothing of the answer.
  let description: String
  /// Where the answer's status is why.
  let status: Int?

  init(_ description: String, status: Int? = nil) { (self.description, self.status) = (description, status) }

  /// - Parameter path: below `/node`.
  init(_ path: String, answers status: Int) { self.init("/node\(path) answers \(status)", status: status) }
}
