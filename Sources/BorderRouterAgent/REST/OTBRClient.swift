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

/// Thread 1.4 credential sharing: a code of 9 digits with which a phone or another ecosystem gets this network's
/// credentials from the border router, once and for a few minutes.
///
/// ```
/// PUT  /node/ba-epskc/state  "enable"              200; 404: the router does not have it
/// POST /node/ba-epskc/key    {"lifetime":300000}   200 {"tap":"123456789","port":49152}; 409: a code is in use
/// ```
/// The code is for the eyes of whoever sits there: it is neither logged nor published.
package enum CredentialSharing {
  /// Milliseconds; OpenThread takes at most ten minutes.
  package static let lifetime = 300_000

  package enum Outcome: Equatable, Sendable {
    /// 9 digits.
    case code(String)
    /// Why there is none.
    case none(String)
  }

  /// Looks at a router, and asks it for a code where it is on a network.
  ///
  /// - Returns: with the router's id, where it reports that.
  package static func code(from client: OTBRClient) async throws -> (BorderAgentID?, Outcome) {
    try await SystemThread.result {
      var reader = RouterReader()
      switch try client.look(&reader) {
      case .silent(let silence): return (nil, .none(silence.description))
      case .report(let report) where !report.state.isAttached:
        return (report.agent, .none("it is \(report.state.word), on no network"))
      case .report(let report):
        do throws(HTTPFailure) {
          return (report.agent, try activate { request throws(HTTPFailure) in try client.perform(request) })
        } catch { return (report.agent, .none(RouterSilence(error).description)) }
      }
    }
  }

  static func activate(_ ask: (HTTPRequest) throws(HTTPFailure) -> HTTPAnswer) throws(HTTPFailure) -> Outcome {
    let state = try ask(HTTPRequest(method: .put, path: "/node/ba-epskc/state", body: Array("\"enable\"".utf8)))
    guard state.status == 200 else { return .none(message(state.status)) }
    let answer = try ask(
      HTTPRequest(method: .post, path: "/node/ba-epskc/key", body: Array("{\"lifetime\":\(lifetime)}".utf8)))
    guard answer.status == 200 || answer.status == 201 else { return .none(message(answer.status)) }
    guard let code = code(in: answer.body) else { return .none("its answer has no code of 9 digits") }
    return .code(code)
  }

  static func code(in body: [UInt8]) -> String? {
    var code: String?
    let isObject = try? UntrustedJSON.readMembers(of: body, depth: OTBRNode.nesting) { member in
      if member.name.text?.lowercased() == "tap" { code = RESTValue(member.value).text }
    }
    guard isObject == true, let code, code.utf8.count == 9, code.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 })
    else { return nil }
    return code
  }

  private static func message(_ status: Int) -> String {
    switch status {
    case 404, 405, 501: "this version of its agent does not have credential sharing (\(status))"
    case 409: "a code is in use already (409), or its Thread is stopped; wait until the code has ended"
    default: "it answers \(status)"
    }
  }
}
