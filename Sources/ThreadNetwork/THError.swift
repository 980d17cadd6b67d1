import Foundation

/// The domain of all errors of this module: `THErrorDomain`.
public let THErrorDomain = "THErrorDomain"

// Unchecked because NSError is: nothing in it changes, and what is in `userInfo` are texts and numbers.
/// Why a call failed: an `NSError` of ``THErrorDomain`` with one of the codes of ``Code``.
///
/// `localizedDescription` says what is wrong, where, and what can be done about it. It never holds an
/// byte of a network key, a PSKc or a dataset.
///
///     do {
///       let credentials = try await client.preferredCredentials()
///     } catch let error as THError where error.reason == .refused {
///       // or, as on Apple's systems: (error as NSError).code == 15
///     }
public final class THError: NSError, @unchecked Sendable {
  /// Whether the reason may be a daemon that starts or ends.
  let isTemporary: Bool

  /// The numbers in `code`. They do not change from version to version.
  public enum Code: Int, Sendable, CaseIterable {
    /// The dataset is refused: ``THError/answerCode`` names the rule, ``THError/tlv`` the TLV and
    /// ``THError/offset`` the place.
    case invalidDataset = 1
    /// A Border Agent ID that has neither 8 nor 16 bytes, an Extended PAN ID that has not 8, or a
    /// configuration that is invalid.
    case invalidArgument = 2
    /// There are no such credentials, or none that this team may know of. ``noPreferredNetwork`` is another case:
    /// apps read this code as a refusal when they ask for the preferred network.
    case notFound = 3
    /// It belongs to another team, or this user is no client of the daemon.
    case notAuthorized = 4
    /// No daemon can be reached, and no store opened.
    case unavailable = 5
    /// Another program holds the store, and is no daemon that could be asked.
    case storeInUse = 6
    /// Who listens on the socket is not to be trusted.
    case untrusted = 7
    /// It contradicts what is stored.
    case conflict = 8
    /// There is no preferred network, or its credentials are not there: `preferredCredentials` has nothing to
    /// return. Apps written for Apple's framework read 9 so.
    case noPreferredNetwork = 9
    /// The store was altered, or is an old copy: it is read, and takes no changes.
    case readOnly = 10
    /// What is stored is damaged, or cannot be opened.
    case damaged = 11
    /// The daemon, or the store without one, does not do this.
    case unsupported = 12
    /// The daemon's answer cannot be read: it may be of another version.
    case badAnswer = 13
    /// The daemon ended, or took too long: it may have done what it was asked for.
    case interrupted = 14
    /// A person refused; or nobody answered in time, or could be asked. ``THError/answerCode`` tells
    /// which: `consent_denied`, `consent_expired`, `consent_required`.
    case refused = 15
    /// The store fails: the disk is full, or broken.
    case storeFailure = 16
    /// Too many calls at a time. The same call may work later. It was 9 before that number got Apple's meaning.
    case busy = 17
    /// The daemon of this machine is installed and does not run now. The same call may work later.
    case notNow = 18
  }

  /// Key of `userInfo`: the stable word of the daemon's answer, a `String` such as `bad_length`.
  public static let answerCodeKey = "THErrorAnswerCode"
  /// Key of `userInfo`: the name of the TLV that is to blame, a `String` such as `Network Key`.
  public static let tlvKey = "THErrorTLV"
  /// Key of `userInfo`: bytes from the beginning of the dataset to that TLV, an `Int`.
  public static let offsetKey = "THErrorOffset"

  /// The same as `code`.
  public var reason: Code { Code(rawValue: code) ?? .storeFailure }
  /// The stable word of the daemon's answer, `bad_length` for example; see docs/reference/mqtt-protocol.md.
  public var answerCode: String? { userInfo[Self.answerCodeKey] as? String }
  /// The name of the TLV that is to blame, where a dataset is refused for one.
  public var tlv: String? { userInfo[Self.tlvKey] as? String }
  /// Bytes from the beginning of the dataset to the TLV that is to blame.
  public var offset: Int? { userInfo[Self.offsetKey] as? Int }

  /// The domain, the code and the words.
  public override var description: String { "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\"" }

  /// - Parameters:
  ///   - message: a sentence without its full stop.
  ///   - help: the same, for what can be done.
  init(_ reason: Code, _ message: String, help: String? = nil, info: [String: Any] = [:], isTemporary: Bool = false) {
    self.isTemporary = isTemporary
    var info = info
    info[NSLocalizedDescriptionKey] = help.map { "\(message); \($0)" } ?? message
    info[NSLocalizedRecoverySuggestionErrorKey] = help
    super.init(domain: THErrorDomain, code: reason.rawValue, userInfo: info)
  }

  /// Reads an error from an archive.
  public required init?(coder: NSCoder) {
    isTemporary = false
    super.init(coder: coder)
  }
}

/// The words for all that can go wrong below.
extension THError {
  /// What a daemon, or the own store, answers to a command; nil before anybody is asked.
  convenience init(_ failure: AnswerFailure, to command: RequestCommand? = nil) {
    var info: [String: Any] = [Self.answerCodeKey: failure.code]
    info[Self.tlvKey] = failure.tlv
    info[Self.offsetKey] = failure.offset
    let reason: Code =
      if failure.ofDataset != nil { .invalidDataset } else {
        failure.known.map { Self.reason(of: $0, to: command) } ?? .badAnswer
      }
    // The code, the TLV and the offset are in the words, too: not everybody prints `userInfo`.
    let message =
      if reason == .invalidDataset { "the dataset is refused (\(Self.place(failure))): \(failure.message)" } else {
        failure.message
      }
    self.init(
      reason, message, help: failure.help ?? Self.help(for: failure.known), info: info,
      isTemporary: failure.known == .ending)
  }

  private static func place(_ failure: AnswerFailure) -> String {
    var parts = [failure.code]
    if let tlv = failure.tlv { parts.append(tlv) }
    if let offset = failure.offset { parts.append("at byte \(offset)") }
    return parts.joined(separator: ", ")
  }

  private static func reason(of code: AnswerCode, to command: RequestCommand?) -> Code {
    switch code {
    case .incompleteDataset, .badDataset: .invalidDataset
    case .invalidPayload: .invalidArgument
    case .notAuthorized, .notEnrolled: .notAuthorized
    case .consentRequired, .consentDenied, .consentExpired: .refused
    case .notFound where command == .getPreferred: .noPreferredNetwork
    case .staleID, .notFound: .notFound
    case .conflict: .conflict
    case .rateLimited, .tooLarge, .tooManyRouters: .busy
    case .expired, .ending: .interrupted
    case .readOnly: .readOnly
    case .damagedCredentials: .damaged
    case .unsupported: .unsupported
    case .store: .storeFailure
    @unknown default: .badAnswer
    }
  }

  private static func help(for code: AnswerCode?) -> String? {
    switch code {
    case .consentRequired:
      "run a daemon (`threadkeeper run`) and agree with `threadkeeper consent`, or start this program"
        + " from a terminal"
    case .readOnly: "`threadkeeper store verify` tells why"
    case .rateLimited: "try again in a moment"
    default: nil
    }
  }

  /// What the way to the daemon comes to.
  convenience init(_ error: SocketError, at path: String) {
    switch error.reason {
    case .untrusted:
      self.init(
        .untrusted, "the daemon is not asked: \(error.message)",
        help: "its directory must be its own or root's, and nobody else may write there or above")
    case .forbidden:
      self.init(
        .notAuthorized, "the daemon cannot be asked: \(error.message)",
        help: "name a socket that this user can reach in the daemon's `clients.socket`")
    case .closed, .timedOut, .abandoned:
      self.init(
        .interrupted, "the daemon at \(path) has not answered: \(error.message)",
        help: "it may have done what it was asked for; `threadkeeper status` tells whether it runs",
        isTemporary: error.reason == .closed)
    case .tooLarge, .malformed: self.init(.badAnswer, "the daemon at \(path) cannot be understood: \(error.message)")
    case .taken, .system:
      self.init(
        .unavailable, "the daemon at \(path) cannot be asked: \(error.message)",
        help: "`threadkeeper status` tells whether it runs")
    @unknown default: self.init(.unavailable, "the daemon at \(path) cannot be asked: \(error.message)")
    }
  }

  /// What opening and using the own store comes to.
  convenience init(_ error: KeychainError) {
    if let holder = error.lockHolder {
      self.init(
        .storeInUse, "\(error.message)", help: "\(holder) holds it and answers no calls: end it, or let it start")
      return
    }
    let reason: Code =
      switch error.status {
      case .readOnly: .readOnly
      case .decode: .damaged
      case .notAvailable, .authFailed, .noSuchKeychain, .interactionNotAllowed: .unavailable
      default: .storeFailure
      }
    self.init(
      reason, "the own store cannot be used: \(error.message)",
      help: reason == .readOnly ? Self.help(for: .readOnly) : nil)
  }
}
