import ThreadDataset
import ThreadkeeperSupport
import Wire

/// The fields of a request, each by itself: what a command needs of them, `ThreadRequest` knows. Fields that a wire does
/// not have are ignored there.
@usableFromInline package struct RequestFields: WirePart, Equatable, Sendable {
  package enum Wire: Sendable {
    /// The topic names the command.
    case mqtt
    /// The method does.
    case socket
  }

  package var wire: Wire
  /// On the socket: the home that it is about; the first one of the settings unless said.
  package var home: String?
  /// On the socket, by the daemon's own user and root: whatever team it belongs to.
  package var asAdministrator: Bool?
  /// Any text, which the answer repeats. On the socket it names what the caller itself waits for.
  package var transaction: String?
  package var agent: BorderAgentID?
  package var dataset: OperationalDataset?
  package var network: ExtendedPANID?
  /// Of a network, where it is not named by its id.
  package var networkName: String?
  /// Of a consent, or of a network that was preferred.
  package var id: String?
  package var scope: ConsentScope?
  /// What the preferred network is asked for; nil: the requester uses it itself.
  package var purpose: RequestPurpose?
  /// Of the button that was pressed, or of the list of requests that Home Assistant is asked.
  package var token: String?
  /// On the socket: what the program calls itself. Anybody can choose it, so people read it, and nothing
  /// is decided by it.
  package var program: String?
  /// Over MQTT: the envelope whose body holds these fields.
  package var sealed: SealedText?
  /// Names of those that are there, with a value that is none.
  private var wrong: [String] = []
  /// Of a dataset that is none.
  fileprivate(set) var datasetError: DatasetError?

  @usableFromInline package static let sample = RequestFields()

  package init(on wire: Wire = .mqtt) { self.wire = wire }

  @usableFromInline package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    let isOnSocket = wire == .socket
    if isOnSocket {
      c.field("administrator", &asAdministrator, "For the daemon's own user and root: act for every team.")
    }
    c.field("border_agent_id", &agent, "Which border router: 16 or 32 hex digits.")
    c.field("dataset", &dataset, "An active dataset with its network key: hex of 1 to 254 bytes.")
    c.field("ext_pan_id", &network, "Which network: 16 hex digits.")
    if isOnSocket { c.field("home", &home, "The first one of the settings where it is absent.") }
    c.field("id", &id, "Of a question, or of a network in the history.")
    c.field("network_name", &networkName, "Of a known network.")
    if isOnSocket {
      c.field("program", &program, "What the program calls itself: the person who is asked reads it.")
    } else {
      c.field("purpose", &purpose, "`write`: the requester writes it to its Home Assistant or Matter server.")
    }
    c.field("scope", &scope, "`once` where it is absent.")
    if !isOnSocket {
      c.field("sealed", &sealed, "An [envelope](#envelopes) with all other fields in it.")
      c.field("token", &token, "Needed of Home Assistant: that of the request in `bridge/consent`.")
    }
    c.field("transaction", &transaction, "The answer repeats it; at most 256 bytes. No other call should have it.")
  }

  /// Whether it is there, perhaps with a value that is none.
  func has(_ name: String, _ value: Any?) -> Bool { value != nil || isWrong(name) }

  func isWrong(_ name: String) -> Bool { wrong.contains(name) }

  /// The transaction, where it is one that an answer can repeat.
  package var soundTransaction: String? { transaction.flatMap { ThreadRequest.isSound(transaction: $0) ? $0 : nil } }
}

/// Why fields cannot be read.
package enum RequestFlaw: Error {
  case unreadable
  /// A field is of another type.
  case type(of: String)
}

// MARK: - Reading

extension RequestFields {
  package init(json: [UInt8], on wire: Wire) throws(RequestFlaw) {
    self.init(on: wire)
    let flaw =
      try Self.read(json) { reader in
        fields(&reader)
        wrong = reader.problems.filter { $0.reason == .badValue }.compactMap(\.field)
        if isWrong("dataset") { datasetError = Self.datasetError(reader.text("dataset") ?? "") }
        guard let problem = reader.problems.first(where: { $0.reason != .badValue }) else { return nil }
        return problem.reason == .unpairedSurrogate ? .unreadable : .type(of: problem.field ?? "")
      } as RequestFlaw?
    if let flaw { throw flaw }
  }

  private static func read<Value>(_ json: [UInt8], _ body: (inout WireReader) -> Value) throws(RequestFlaw) -> Value {
    do {
      let value = try WireReader.read(json, depth: WireReader.nesting) { reader in
        reader.countsNull = true
        return reader.hasNames ? body(&reader) : nil
      }
      if let value, let value { return value }
    } catch {}
    throw .unreadable
  }

  private static func datasetError(_ hex: String) -> DatasetError? {
    do throws(DatasetError) {
      _ = try OperationalDataset(hex: hex)
      return nil
    } catch { return error }
  }

  /// - Throws: `AnswerFailure` with the code `invalid_payload` that names the field, where it is one.
  package init(json: [UInt8]) throws(AnswerFailure) {
    do throws(RequestFlaw) { try self.init(json: json, on: .mqtt) } catch {
      switch error {
      case .unreadable: throw AnswerFailure(.invalidPayload, "the payload is not a JSON object")
      case .type(let field):
        throw AnswerFailure(.invalidPayload, field: field, "expected \(field == "sealed" ? "an envelope" : "a text")")
      }
    }
  }

  /// The transaction of a payload whose other fields cannot be read, so that the refusal finds its
  /// way too.
  package static func transaction(of json: [UInt8]) -> String? {
    var fields = RequestFields()
    fields.transaction = try? read(json) { reader in
      guard case .string(let text) = reader.member("transaction")?.value else { return nil }
      return text.text
    }
    return fields.soundTransaction
  }
}

extension RequestFields: CustomStringConvertible, CustomReflectable {
  /// Never the dataset.
  @usableFromInline package var description: String { "the fields of a request" }
  @usableFromInline package var customMirror: Mirror { Mirror(self, children: []) }
}

package enum RequestPurpose: String, WireName, Sendable {
  /// The requester makes it the preferred network of Home Assistant: a person has a day to decide.
  case write
}

/// A sealed envelope as it travels: who made it, and what it holds, only its recipient knows.
package struct SealedText: WirePart, WireMessage, WireReadable, Hashable, Sendable {
  package var v = 1
  package var typ = ""
  package var alg = ""
  /// Names the recipient's key.
  package var kid = ""
  /// The ciphertext as base64.
  package var ct = ""

  package init() {}

  package static var form: WireForm { WireForm(name: "envelope", "Sealed to one reader, signed by one writer.") }

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("alg", &alg, .text("How it is sealed.", pattern: "^x25519-xsalsa20-poly1305-seal$"))
    c.needed(
      "ct", &ct,
      .text(
        "The sealed box as base64.",
        pattern: "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$"))
    c.needed("kid", &kid, .text("The reader's key: the first 16 digits of its hash.", pattern: "^[0-9a-f]{16}$"))
    c.needed("typ", &typ, .text("Says that it is one.", pattern: "^sealed$"))
    c.needed("v", &v, "Version of the envelope: 1.")
  }
}

/// What a program calls itself, made fit for a line that a person decides by: letters and digits of
/// ASCII, space, `.`, `_`, `-` and `+`. Without brackets nobody writes a second requester into it, and
/// without other scripts nobody turns the line around.
package struct ProgramName: Hashable, Sendable {
  /// Characters at most.
  package static let longest = 40

  package let text: String

  /// - Returns: nil where nothing of it is left.
  package init?(_ given: String) {
    let shown = given.unicodeScalars.prefix(Self.longest).map { scalar in Self.isPlain(scalar) ? Character(scalar) : "_"
    }
    text = String(shown)
    guard shown.contains(where: { $0.isLetter || $0.isNumber }) else { return nil }
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", " ", ".", "_", "-", "+": true
    default: false
    }
  }
}
