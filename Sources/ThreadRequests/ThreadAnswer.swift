import FoundationEssentials
import Home
import ThreadDataset
import Wire

/// An answer as it is on the wire: to a request, and to an event whose publisher asks for it by a Response Topic.
///
///     {"status":"ok","v":1}
///     {"error":{"code":"not_found","field":"border_agent_id","message":"…"},"status":"error","v":1}
package struct ThreadAnswer: WireMessage, Hashable, Sendable {
  package enum Status: String, WireName, Sendable { case ok, error }

  package var status = Status.ok
  package var data: AnswerData?
  package var error: AnswerFailure?
  /// That of the request.
  package var transaction: String?

  package init() {}

  package init(_ data: AnswerData, transaction: String? = nil) { (self.data, self.transaction) = (data, transaction) }

  /// - Parameter error: nil for an event that was acted upon, or had come before.
  package init(_ error: AnswerFailure?, transaction: String? = nil) {
    (status, self.error, self.transaction) = (error == nil ? .ok : .error, error, transaction)
  }

  /// Nil for what is no answer, or one of another version.
  package init?(json: [UInt8]) {
    guard let answer = try? ThreadAnswer(reading: json) else { return nil }
    self = answer
  }

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    var version = WireVersion()
    c.field("data", &data, "Of `ok`: what the command has.")
    c.field("error", &error, "Of `error`: why it was not done.")
    c.needed("status", &status, "Whether it was done.")
    c.field("transaction", &transaction, "That of the request.")
    c.needed("v", &version)
  }

  /// - Throws: the failure that it has.
  package func result() throws(AnswerFailure) -> AnswerData {
    if let data, status == .ok { return data }
    throw error ?? AnswerFailure(.unsupported, "the daemon gives an answer that cannot be read")
  }
}

/// Why a request was not fulfilled. The raw values are stable: programs and automations are written
/// against them. A dataset that was refused has the code of its own rule, see `DatasetError.Code`.
package enum AnswerCode: String, CaseIterable, Sendable {
  /// Not a JSON object, or a field that is missing, of another type, or out of range.
  case invalidPayload = "invalid_payload"
  /// A pending dataset, where the active one is asked for.
  case incompleteDataset = "incomplete_dataset"
  /// The dataset cannot be read for another reason than its rules.
  case badDataset = "bad_dataset"
  /// It belongs to another team, or the requester may not do that.
  case notAuthorized = "not_authorized"
  /// The answer holds secrets, and the requester has no key to seal them to.
  case notEnrolled = "not_enrolled"
  case consentRequired = "consent_required"
  case consentDenied = "consent_denied"
  case consentExpired = "consent_expired"
  /// The consent that was to be decided is not, or no more, waiting.
  case staleID = "stale_id"
  case notFound = "not_found"
  case conflict
  /// The requester asks more often than it may.
  case rateLimited = "rate_limited"
  /// The requester's team has as many border agent ids as it may.
  case tooManyRouters = "too_many_routers"
  /// The request had waited for too long when it was read.
  case expired
  /// The store takes no changes.
  case readOnly = "read_only"
  /// An unknown command, or one that this version does not fulfil.
  case unsupported
  /// What is stored cannot be opened.
  case damagedCredentials = "damaged_credentials"
  /// The answer would be larger than a message may be.
  case tooLarge = "too_large"
  /// The daemon ends before it has done what it was asked for.
  case ending
  /// The store fails.
  case store
}

/// Why a request was not fulfilled, or an event not acted upon, as it is answered.
package struct AnswerFailure: Error, WirePart, WireMessage, WireReadable, Hashable, Sendable {
  /// One of `AnswerCode`, or of `DatasetError.Code`; of an event one of `Rejection.Code`, and of what is sealed one of
  /// `EnvelopeRefusal`.
  package var code = ""
  /// One sentence: what was expected, what was found. Never a byte of a value.
  package var message = ""
  /// The field of the request that is to blame.
  package var field: String?
  /// The name of the TLV that is to blame.
  package var tlv: String?
  /// Bytes from the beginning of the dataset, or of the payload.
  package var offset: Int?
  /// On the socket: what a person can do.
  package var help: String?
  /// On the socket: the exit status that a command should end with.
  package var exit: Int32?

  package init() {}

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("code", &code, "Why, for programs.")
    c.field("exit", &exit, "On the socket: the exit status that a command ends with, one of sysexits.h.")
    c.field("field", &field, "The field that is to blame.")
    c.field("help", &help, "On the socket: what a person can do.")
    c.needed("message", &message, "One sentence for people.")
    c.field("offset", &offset, "Bytes from the start of the dataset, or of the payload.")
    c.field("tlv", &tlv, "The TLV of the dataset that is to blame.")
  }

  package init(
    _ code: AnswerCode, field: String? = nil, offset: Int? = nil, _ message: String, help: String? = nil,
    exit: Int32? = nil
  ) { self.init(code: code.rawValue, field: field, offset: offset, message, help: help, exit: exit) }

  package init(
    code: String, field: String? = nil, offset: Int? = nil, _ message: String, help: String? = nil, exit: Int32? = nil
  ) {
    self.code = code
    self.message = message
    self.field = field
    self.offset = offset
    self.help = help
    self.exit = exit
  }

  package init(_ error: DatasetError, field: String = "dataset") {
    self.init(code: error.code.rawValue, field: field, offset: error.offset, error.message)
    tlv = error.tlvName
  }

  /// Nil for the code of a dataset's rule, and for one that this version does not know.
  package var known: AnswerCode? { AnswerCode(rawValue: code) }

  /// Nil unless a dataset was refused by one of its rules.
  package var ofDataset: DatasetError.Code? { DatasetError.Code(rawValue: code) }
}

/// What a request comes to: the fields that its command has, see docs/reference/mqtt-protocol.md.
package struct AnswerData: WirePart, WireMessage, WireReadable, Hashable, Sendable {
  /// What a store has changed.
  package enum Change: String, WireName, Sendable { case stored, updated, unchanged }

  /// How a dataset compares with the preferred network.
  package typealias Check = PreferredCheck.Published

  // Of `ping`.
  /// RFC 3339.
  package var time: String?
  package var version: String?
  // Of `credentials/store`.
  package var change: Change?
  /// The stored dataset against the preferred network.
  package var preferred: Check?
  // Of `credentials/delete`.
  package var deleted: Bool?
  // Of all that return credentials.
  package var credentials: [CredentialRecord]?
  /// Border agent ids of which something is stored that cannot be opened. Of the lists.
  package var damaged: [String]?
  // Of `preferred/available`, and of `preferred/set` where the credentials of the network are not here.
  package var available: Bool?
  // Of `preferred/check`.
  package var result: Check?
  /// Names of the essential parameters that differ.
  package var differs: [String]?
  // Of `preferred/set`.
  package var changed: Bool?
  /// Whose keys were taken, where they have changed and did not come with the request.
  package var source: String?
  // Of `networks/forget`, and of `preferred/forget` what is kept from now on.
  package var forgotten: [FormerNetworkRecord]?
  /// Border agent ids of which credentials of the network stay. Of `networks/forget`.
  package var remaining: [String]?
  /// Logins whose shared credentials of the network were deleted, too. Of `networks/forget`.
  package var sharedBy: [String]?
  // Of `consent/pending`.
  package var pending: [WaitingQuestion]?
  // Of the lists, as they are published.
  package var routers: [JSONValue]?
  package var networks: [JSONValue]?
  package var alerts: [JSONValue]?
  /// In place of all the others.
  package var sealed: SealedText?

  package init() {}

  package init(sealed: SealedText) { self.sealed = sealed }

  package init(credentials: [CredentialRecord]) { self.credentials = credentials }

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("alerts", &alerts, "Alerts that fire, as they are published.")
    c.field("available", &available, "Whether a network is preferred; of `preferred/set`: its credentials are here.")
    c.field("change", &change, "What became of the credentials.")
    c.field("changed", &changed, "Whether another network is preferred now.")
    c.field("credentials", &credentials, "What is stored.")
    c.field("damaged", &damaged, "Border agent ids of which something is stored that cannot be opened.")
    c.field("deleted", &deleted, "Whether the credentials are deleted.")
    c.field("differs", &differs, "Names of the essential parameters that differ.")
    c.field("forgotten", &forgotten, "What was deleted; of `preferred/forget`: what is kept from now on.")
    c.field("networks", &networks, "Networks, as they are published.")
    c.field("pending", &pending, "Questions that wait for a person.")
    c.field("preferred", &preferred, "The dataset against the preferred network.")
    c.field("remaining", &remaining, "Border agent ids whose own credentials of the network stay.")
    c.field("result", &result, "The dataset against the preferred network.")
    c.field("routers", &routers, "Border routers, as they are published.")
    c.field("sealed", &sealed, "In place of all the others.")
    c.field("shared_by", &sharedBy, "Logins whose shared credentials of the network were deleted.")
    c.field("source", &source, "Whose keys were taken, where they have changed and did not come with the request.")
    c.field("time", &time, "When it answers: RFC 3339 in UTC.")
    c.field("version", &version, "Of threadkeeper.")
  }

  /// Whether it holds what nobody but the requester may see.
  package var isSecret: Bool { credentials?.contains { $0.dataset != nil } ?? false }
}

/// A question that waits for a person, as its own requester sees it.
package struct WaitingQuestion: WirePart, WireMessage, WireReadable, Hashable, Sendable {
  /// Of the type in the interfaces of the local API.
  package static var varlink: String { "Question" }

  package var id = ""
  /// What was asked for: `preferred/get`.
  package var command = ""
  /// Of `network/get`, whose requester has named it.
  package var extendedPANID: String?
  /// RFC 3339.
  package var expiresAt = ""
  /// Of the requests that wait for it, which tell them apart: several may have asked the same.
  package var transactions: [String]?
  /// Who would get what, and why it matters. Only for who may decide: it names networks.
  package var reason: String?

  package init() {}

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("command", &command, "What was asked for.")
    c.needed("expires_at", &expiresAt, "When it is refused: RFC 3339 in UTC.")
    c.field("ext_pan_id", &extendedPANID, "Of `network/get`: the network that the requester has named.")
    c.needed("id", &id, "Of the consent.")
    c.field("reason", &reason, "For who may decide: who would get what.")
    c.field("transactions", &transactions, "Of the requests that wait for it.")
  }

  /// Whether a request waits for it. A transaction is compared by its bytes.
  package func isAwaited(by transaction: String) -> Bool {
    transactions?.contains { $0.utf8.elementsEqual(transaction.utf8) } == true
  }
}

extension WaitingQuestion {
  /// For the terminal of who asked and may not decide: who does, and how. It holds what the daemon has
  /// sent, so it is to be made harmless before it is shown.
  package func words(now: Date = Date()) -> String {
    let seconds = (try? Date(expiresAt, strategy: .iso8601)).map { max(0, Int($0.timeIntervalSince(now).rounded(.up))) }
    let limit = seconds.map { ", up to \($0) s" } ?? ""
    return "Waiting for consent\(limit): `threadkeeper consent approve \(id)`, "
      + "by the daemon's user on its machine."
  }
}

/// For how long an approval holds.
package enum ConsentScope: String, WireName, Codable, Sendable { case once, always }
