import Home
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// An event as a border router, a Wi-Fi watcher or a store of credentials publishes it, or a program about itself. One
/// that is read is checked, but not yet believed.
package struct InboundEvent: WireObject, Hashable, Sendable {
  /// What a home takes of it, but for the summary of the dataset.
  package var message: RouterMessage
  package var agent: BorderAgentID?
  package var dataset: WireDataset?
  /// In place of the dataset, for people.
  package var shownDataset: String?
  package var identifier: String?
  package var isPreferred: Bool?
  package var writes: Bool?
  package var program: String?
  package var routers: [SightedRouter]?
  package var sequence: UInt64?
  /// Its fields are in an envelope. What lies beside that is for others on the broker, and counts for nothing: it must
  /// say the same.
  package private(set) var isSealed = false
  private var isOfProgram: Bool

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    let kind = message.kind
    let (isOfStore, isAnnounced) = (kind == .credentials, kind == .announce || kind == .dataset)
    let ofRouter: WireUse = isOfProgram || isOfStore ? .typeOnly : .counts
    let ofThread = isAnnounced || kind == .heartbeat ? ofRouter : .typeOnly
    let ofNetwork: WireUse = kind == .leave && isOfProgram ? .counts : ofThread
    let ofDataset: WireUse = isAnnounced || isOfStore ? .counts : .typeOnly
    c.field("access_point", &message.accessPoint, kind == .ssid ? .accessPoint : .ownAccessPoint, ofRouter)
    if isOfProgram { c.field("agent", &program, .program, .anyType) }
    c.field("border_agent_id", &agent, isOfStore ? .namedAgent : .agent, kind == .sightings ? .typeOnly : .counts)
    if let shownDataset { c.field("dataset", shownDataset) }
    c.field("dataset", &dataset, isOfStore ? .sharedDataset : .dataset, ofDataset)
    c.field("ext_address", &extendedAddress, .extendedAddress, ofRouter)
    c.field("ext_pan_id", &message.thread.network, kind == .leave ? .leftNetwork : .network, ofNetwork)
    if kind == .offline, !isOfProgram { c.field("http_status", &message.httpStatus, .status, .anyType) }
    c.field("id", &identifier, .identifier)
    c.field("model", &message.model, .label, ofRouter)
    c.field("name", &message.name, isOfStore ? .sender : .label, isOfStore ? .counts : ofRouter)
    c.field("partition_id", &message.thread.partition, .partition, ofThread)
    if isOfStore { c.field("preferred", &isPreferred, .isPreferred) }
    c.field("previous_ssid", &message.previousSSID, .previousName, ofRouter)
    if isAnnounced {
      c.field("reason", &adoptionFailure, .adoptionFailure)
    } else if kind == .offline, !isOfProgram {
      c.field("reason", &offlineReason, .offlineReason)
    } else {
      c.field(
        "reason", &message.trouble, .trouble,
        isOfProgram && (kind == .heartbeat || kind == .offline) ? .counts : .typeOnly)
    }
    if kind == .sightings { c.field("routers", &routers, .routers) }
    c.field("seq", &sequence, .sequence)
    c.field("ssid", &message.ssid, kind == .ssid ? .newName : .ownName, ofRouter)
    c.field("thread_state", &message.thread.state, .threadState, ofThread)
    c.field("vendor", &message.vendor, .label, ofRouter)
    if isOfStore { c.field("writes", &writes, .writes) }
  }

  private var extendedAddress: WireHex? {
    get { message.extendedAddress.map { WireHex($0) } }
    set { message.extendedAddress = newValue?.number }
  }
  private var adoptionFailure: WireReported<AdoptionState>? {
    get { message.adoptionFailure.map { WireReported($0) } }
    set { message.adoptionFailure = newValue?.value }
  }
  private var offlineReason: WireReported<OfflineReason>? {
    get { message.offlineReason.map { WireReported($0) } }
    set { message.offlineReason = newValue?.value }
  }
}

extension InboundEvent {
  /// Without any field, to be filled and written.
  ///
  /// - Parameter program: that reports itself, in place of a router.
  package init(_ kind: RouterMessage.Kind, of program: String? = nil) {
    self.init(
      message: RouterMessage(kind, .router(BorderAgentID(high: 0, low: 0))), program: program,
      isOfProgram: program != nil || kind == .sightings)
  }
}

extension RouterMessage.Kind {
  /// What it means and what follows, for the documents.
  package var about: StaticString {
    switch self {
    case .announce: "The router is on the Thread network: it is listed and online; with a dataset, that is stored."
    case .dataset: "Its active dataset changed: as `announce`, but `dataset` is required."
    case .leave:
      "It has left the home for good: credentials are deleted, topics emptied, alerts resolved. That it has lost its network is `offline`."
    case .heartbeat: "It can be reached, and is online; or a program can do its work."
    case .offline:
      "It cannot be reached, or has no network; or a program cannot do its work. Good as a last will: nothing is deleted."
    case .ssid:
      "The Wi-Fi of its access point has another name, which is remembered; a change is checked against the preferred network."
    case .credentials:
      "What a sender that is no border router [shares](#shared-credentials) of a network, as Home Assistant's Thread store."
    case .sightings:
      "All border routers that an enrolled program [sees](#sightings) on its local network, each minute, sealed."
    }
  }
}

// What the fields mean; `null` counts as absent.
extension WireForm {
  private static func sent(_ about: StaticString) -> WireForm {
    WireForm(about, most: UInt64(InboundLimits.textCharacters))
  }

  fileprivate static var agent: WireForm {
    "16 or 32 hex digits. 32 of which the last 16 are zeros are the same id as the first 16 alone."
  }
  fileprivate static var namedAgent: WireForm {
    "The border agent that the sender names for it; nobody owns that id by this."
  }
  fileprivate static var dataset: WireForm {
    "The active dataset. In `announce` also one that is [not complete](#datasets-that-are-not-complete)."
  }
  fileprivate static var sharedDataset: WireForm {
    "A user shares one dataset of each network (Extended PAN ID), of at most 32 networks."
  }
  fileprivate static var label: WireForm {
    sent("Text for people, of `announce` and `dataset`; what is absent stays as it was.")
  }
  fileprivate static var sender: WireForm { sent("What people call the sender.") }
  fileprivate static var extendedAddress: WireForm { "16 hex digits, of `announce` and `dataset`." }
  fileprivate static var ownAccessPoint: WireForm {
    sent("Text of `announce` and `dataset`, by which `ssid` events find the router.")
  }
  fileprivate static var accessPoint: WireForm {
    sent(
      "Without `border_agent_id`: the routers that announced this text, at most 16; of the sender's team, or of all where `ssid.reporters` names the sender."
    )
  }
  fileprivate static var ownName: WireForm { sent("Counts in `ssid`.") }
  fileprivate static var newName: WireForm { sent("The new name. U+FFFD stands for what is no UTF-8.") }
  fileprivate static var previousName: WireForm { sent("The old name, where it is known; counts in `ssid`.") }
  fileprivate static var network: WireForm {
    "The network that the router *is on*, at `/node/ext-panid` of an OpenThread Border Router."
  }
  fileprivate static var threadState: WireForm {
    "`disabled`, `detached`, `child`, `router` or `leader`, as at `/node/state`."
  }
  fileprivate static var partition: WireForm {
    "32 bits: the partition that the router is in, as `leaderData.partitionId` at `/node`. It wins over that of its record."
  }
  fileprivate static var adoptionFailure: WireForm {
    "Why the router does not use the credentials that it was [sent](#adoption): `pending_change`, `refused`, `no_answer` or `not_attached`."
  }
  fileprivate static var offlineReason: WireForm {
    "`stopped` (Thread was stopped), `unreachable` (nothing accepts connections), `frozen` (connections are accepted and not answered), `untrusted` (on its machine, a program of another user listens in its place), `no_network` (it answers, and has no dataset) or `failing` (what it answers is an error, or not what a border router answers)."
  }
  fileprivate static var status: WireForm {
    WireForm(
      "With `failing`: what its REST interface answers, 100 to 599. Anything else counts as absent.", least: 100,
      most: 599)
  }
  fileprivate static var isPreferred: WireForm {
    "Whether the sender prefers this network (false). One network of a user at most: the last report counts."
  }
  fileprivate static var writes: WireForm {
    "Whether the sender [changes its store](#changes-of-a-store) where a person has agreed (false)."
  }
  fileprivate static var leftNetwork: WireForm {
    "In place of the others: the network that a store of credentials does not have any more."
  }
  fileprivate static var program: WireForm {
    sent(
      "Distinguishes it from others of the login. Its first word is the kind of program, such as `otbr` before the address of a router."
    )
  }
  fileprivate static var trouble: WireForm {
    WireForm(
      "At most 512 characters. In `offline` why it cannot do its work, and what to do about it; in `heartbeat` of the kind `matter_server` what that server lacks.",
      most: UInt64(InboundLimits.sentenceCharacters))
  }
  fileprivate static var routers: WireForm {
    WireForm(
      "At most 200, each with what its mDNS record says: `border_agent_id`, `ext_address`, `ext_pan_id`, `model`, `name`, `network_name`, `thread_version`, `vendor`. One without the first two is left out.",
      most: UInt64(InboundLimits.routers))
  }
  fileprivate static var sequence: WireForm {
    "0 to 2^64−1, rising for one user and router, program or network over all events."
  }
  fileprivate static var identifier: WireForm { sent("Text, in place of `seq`.") }
}

// MARK: - Reading

extension InboundEvent {
  /// The dataset is decoded, and its rules are left to `checkDataset` but for `credentials`. Of an event in an envelope
  /// nothing else is read.
  ///
  /// - Throws: a `Rejection` that names the code, the field and the offset.
  package init(reading payload: [UInt8], as kind: RouterMessage.Kind) throws(Rejection) {
    self.init(kind)
    try read(payload)
  }

  /// Reads the fields of a new event, where it lies: one that is returned is copied.
  package mutating func read(_ payload: [UInt8]) throws(Rejection) {
    try Self.read(payload) { reader throws(Rejection) in
      try take(&reader)
      guard isSealed else { return try check(reader) }
      guard reader.member("dataset") == nil else {
        throw Rejection(
          .notSealed, field: "dataset",
          message: "the dataset is in plaintext beside the envelope; put it in the envelope only")
      }
    }
  }

  /// The event that an envelope held.
  ///
  /// - Parameters:
  ///   - payload: in which the envelope was, and has been read as one.
  ///   - sequence: that of the envelope.
  package init(reading body: [UInt8], sealedIn payload: [UInt8], as kind: RouterMessage.Kind, sequence: UInt64)
    throws(Rejection)
  {
    self.init(kind)
    try Self.read(body) { inside throws(Rejection) in
      try take(&inside)
      guard self.sequence ?? sequence == sequence else { throw .outsideDiffers("seq") }
      self.sequence = sequence
      try Self.read(payload) { outside throws(Rejection) in
        if let field = difference(outside, inside) { throw .outsideDiffers(field) }
      }
      guard !isSealed else {
        throw Rejection(.unsupported, field: "sealed", message: "there cannot be an envelope here")
      }
      try check(inside)
    }
  }

  private static func read(_ payload: [UInt8], _ body: (inout WireReader) throws(Rejection) -> Void) throws(Rejection) {
    try InboundLimits.checkSize(payload)
    let rejection: Rejection??
    do throws(JSONFlaw) {
      rejection = try WireReader.read(payload, depth: InboundLimits.nesting) { reader in
        do throws(Rejection) {
          try body(&reader)
          return nil
        } catch { return error }
      }
    } catch { throw Rejection(error) }
    guard let rejection else { throw Rejection(.wrongType, message: "expected a JSON object") }
    if let rejection { throw rejection }
  }

  /// - Throws: for what is of another type: what comes first is named.
  private mutating func take(_ reader: inout WireReader) throws(Rejection) {
    isSealed = reader.has("sealed")
    switch message.kind {
    case .heartbeat, .offline, .leave: isOfProgram = reader.member("border_agent_id") == nil
    case .announce, .dataset, .ssid, .credentials, .sightings: break
    }
    fields(&reader)
    guard !reader.problems.isEmpty else { return }
    let odd = reader.problems.filter { $0.reason != .badValue && $0.field != "preferred" && $0.field != "writes" }
    if let first = odd.min(by: { $0.offset ?? 0 < $1.offset ?? 0 }) { throw rejection(first, reader) }
  }

  /// Of several wrong values the first of these is named.
  static let order = [
    "id", "name", "vendor", "model", "access_point", "ssid", "previous_ssid", "ext_address", "dataset", "ext_pan_id",
    "thread_state", "reason", "routers",
  ]
  static let orderOfStore = ["dataset", "id", "name", "border_agent_id", "preferred", "writes"]

  private mutating func check(_ reader: WireReader) throws(Rejection) {
    let isOfStore = message.kind == .credentials
    if !isOfStore { try takeSubject(reader) }
    if reader.problems.isEmpty {
      if isOfStore || dataset == nil { try checkDataset() }
    } else {
      for name in isOfStore ? Self.orderOfStore : Self.order {
        // Beside a sequence number an id is not looked at.
        if let problem = reader.problems.first(where: { $0.field == name }), name != "id" || sequence == nil {
          throw rejection(problem, reader)
        }
        if name == "dataset" { try checkDataset() }
      }
    }
    if message.kind == .sightings {
      guard let routers else {
        throw Rejection(.missingField, field: "routers", message: "expected the list of border routers in `routers`")
      }
      message.sightings = routers.compactMap(\.advertisement)
    }
    if message.kind == .ssid, message.ssid == nil {
      throw Rejection(.missingField, field: "ssid", message: "an ssid event needs the new network name in `ssid`")
    }
    if let sequence {
      message.order = .number(sequence)
    } else if let identifier {
      message.order = .identifier(ExactName(identifier))
    }
    if isOfProgram, message.kind == .offline, message.trouble == nil { message.trouble = "" }
    if isOfStore {
      (message.borderAgent, message.isPreferred) = (agent, isPreferred ?? false)
      message.writes = writes ?? false
    }
  }

  private mutating func takeSubject(_ reader: WireReader) throws(Rejection) {
    if let agent {
      message.subject = .router(agent)
      return
    }
    let other = isOfProgram ? "agent" : message.kind == .ssid ? "access_point" : ""
    for name in ["border_agent_id", other] {
      if let problem = reader.problems.first(where: { $0.field == name }) { throw rejection(problem, reader) }
    }
    if message.kind == .ssid, let name = message.accessPoint {
      message.subject = .accessPoint(ExactName(name))
    } else if let program, !program.isEmpty {
      message.subject = .agent(ExactName(program))
    } else if message.kind == .leave, let network = message.thread.network {
      message.subject = .network(network)
    } else if message.kind == .sightings {
      throw Rejection(.missingField, field: "agent", message: "expected the name of the program in `agent`")
    } else {
      throw Rejection(
        .missingField, field: "border_agent_id", message: "expected `border_agent_id` with 16 or 32 hex digits")
    }
  }

  /// Checks the dataset's rules, and finds what it lacks.
  package mutating func checkDataset() throws(Rejection) {
    let kind = message.kind
    guard let bytes = dataset?.bytes else {
      guard kind == .dataset || kind == .credentials else { return }
      throw Rejection(
        .missingField, field: "dataset",
        message: "a \(kind.word) event needs the operational dataset's TLVs as hex in `dataset`")
    }
    do throws(DatasetError) {
      let read = try OperationalDataset(bytes: bytes)
      let network = read.extendedPANID
      if kind == .credentials, let network { message.subject = .network(network) }
      // Who has no other one is known with it, and what it lacks is said.
      let isActive = read.pendingTimestamp == nil && read.delayTimer == nil
      if read.kind == .partial, isActive, !read.bytes.isEmpty,
        kind == .announce || kind == .credentials && network != nil
      {
        message.lacks = read.missing
        // A router is listed without credentials.
        message.dataset = network.flatMap {
          kind == .credentials ? DatasetSummary(network: $0, name: read.networkName ?? "") : nil
        }
        return
      }
      try read.requireComplete()
      guard read.kind != .complete else { return }
    } catch { throw Rejection(error, field: "dataset") }
    throw Rejection(
      .incompleteDataset, field: "dataset",
      message: "this is a pending dataset; publish the active one when it takes effect")
  }

  private func rejection(_ problem: WireProblem, _ reader: WireReader) -> Rejection {
    let field = problem.field ?? ""
    // The value found is not repeated: it may be anything.
    func bad(_ expected: String) -> Rejection { Rejection(.badValue, field: field, message: "expected \(expected)") }
    switch (problem.reason, field) {
    case (_, "routers"):
      return Rejection(
        .badValue, field: field,
        message: "expected a list of at most \(InboundLimits.routers) routers, whose texts have at most "
          + "\(InboundLimits.textCharacters) characters, and ids 16 or 32 hex digits")
    case (.wrongType(let type), _): return Rejection(.wrongType, field: field, message: "expected \(type)")
    case (.unpairedSurrogate, _):
      return Rejection(
        .invalidJSON, field: field,
        message: "the text has an unpaired surrogate; send both `\\u` escapes, or the character itself")
    case (_, "border_agent_id"):
      let count = reader.text("border_agent_id")?.utf8.count ?? 0
      return Rejection(
        .badBorderAgentID, field: field,
        message: "expected 16 or 32 hex digits that are not all 0, found \(count) characters")
    case (_, "dataset"):
      do throws(DatasetError) { _ = try OperationalDataset(hex: reader.text("dataset") ?? "") } catch {
        return Rejection(error, field: field)
      }
      return Rejection(.badDataset, field: field, message: "the dataset could not be read")
    case (_, "ext_address"): return bad("16 hex digits (8 bytes)")
    case (_, "ext_pan_id"): return bad("16 hex digits (8 bytes) that are not all 0")
    case (_, "thread_state"): return bad(Self.words(ThreadState.allCases))
    case (_, "reason") where !isOfProgram:
      return bad(message.kind == .offline ? Self.words(OfflineReason.reported) : Self.words(AdoptionState.reported))
    default:
      let most = field == "reason" ? InboundLimits.sentenceCharacters : InboundLimits.textCharacters
      return Rejection(.badValue, field: field, message: "a text has at most \(most) characters")
    }
  }

  private static func words(_ words: [some WireWord]) -> String {
    "one of \(words.map(\.word.description).joined(separator: ", "))"
  }

  /// What may lie beside an envelope. Of several differences the first of these is named.
  static let outside: [StaticString] = [
    "border_agent_id", "seq", "partition_id", "agent", "name", "vendor", "model", "ext_address", "access_point", "ssid",
    "previous_ssid", "id", "ext_pan_id", "thread_state", "reason", "http_status", "routers",
  ]

  /// The first field that is said outside of an envelope and not, or otherwise, said in it.
  private func difference(_ outside: WireReader, _ inside: WireReader) -> String? {
    let names = Self.outside + (message.kind == .credentials ? ["preferred", "writes"] : [])
    return names.first { name in
      // One that is no text counts for nothing.
      if "\(name)" == "agent" { return outside.text(name).map { inside.text(name)?.hasBytes(of: $0) != true } ?? false }
      guard let mine = outside.member(name)?.value else { return false }
      switch (mine, inside.member(name)?.value) {
      case (.string, .string?):
        let (mine, other) = (outside.text(name) ?? "", inside.text(name) ?? "")
        if "\(name)" == "border_agent_id", let mine = BorderAgentID(hex: mine), let other = BorderAgentID(hex: other) {
          return mine != other
        }
        return !mine.hasBytes(of: other)
      case (.number(let mine), _) where "\(name)" == "seq": return mine.unsigned != sequence
      case (.number(let mine), .number(let other)?): return mine.unsigned != other.unsigned
      case (.bool(let mine), .bool(let other)?): return mine != other
      default: return true
      }
    }?.description
  }
}

extension Rejection {
  fileprivate static func outsideDiffers(_ field: String) -> Rejection {
    Rejection(
      .outsideDiffers, field: field,
      message: "the envelope says otherwise, or nothing, about this; leave it out beside the envelope")
  }
}

/// A border router as a program sees it on its local network. Anybody there can publish such a record.
package struct SightedRouter: WirePart, WireMessage, WireReadable, Hashable, Sendable {
  package var agent: BorderAgentID?
  package var address: WireHex?
  package var network: ExtendedPANID?
  package var model: String?
  package var name: String?
  package var networkName: String?
  package var threadVersion: String?
  package var vendor: String?

  package init() {}

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("border_agent_id", &agent, .text("", pattern: "^([0-9a-f]{16}|[0-9a-f]{32})$"))
    c.field("ext_address", &address)
    c.field("ext_pan_id", &network, .text("", pattern: "^[0-9a-f]{16}$"))
    c.field("model", &model, .shown)
    c.field("name", &name, .shown)
    c.field("network_name", &networkName, .shown)
    c.field("thread_version", &threadVersion, .shown)
    c.field("vendor", &vendor, .shown)
  }

  /// - Returns: nil without an id.
  fileprivate var advertisement: Advertisement? {
    guard var result = Advertisement(id: agent, extendedAddress: address?.number) else { return nil }
    (result.name, result.vendor, result.model) = (name?.shown(63), vendor?.shown(64), model?.shown(64))
    result.threadVersion = threadVersion?.shown(16)
    // Whether it is attached is not known: OpenThread advertises the values that it is built with while it is not.
    if network != .placeholder { (result.network, result.networkName) = (network, networkName?.shown(16)) }
    return result
  }
}

extension WireForm {
  fileprivate static var shown: WireForm { WireForm("", most: UInt64(InboundLimits.textCharacters)) }
}

extension String {
  /// As `Advertisement` has it of a record: nil for too many bytes, and for control characters.
  fileprivate func shown(_ most: Int) -> String? { Advertisement.text(Array(utf8), most: most) }
}

/// How much of an untrusted message is read.
package enum InboundLimits {
  /// Bytes of a payload. The largest useful event holds a dataset of 254 bytes (508 hex digits)
  /// and a handful of names; sealed envelopes add a third and some. Ten times that is generous.
  package static let payloadBytes = 16_384
  /// Objects and arrays within each other. Events are flat; eight leaves room for a publisher's own
  /// additions.
  package static let nesting = 8
  /// Characters of a name, vendor, model, SSID, access point or event id. An SSID has at most 32
  /// bytes (IEEE 802.11), a DNS-SD instance name 63 (RFC 6763).
  package static let textCharacters = 128
  /// The same of a sentence.
  package static let sentenceCharacters = 512
  /// Border routers that a program sees: as many as a home lists by their records alone.
  package static let routers = Home.mostDiscovered
  /// Bytes of a user's name. MQTT allows 65,535 (MQTT 5.0, section 3.1.3.5), and each would be
  /// repeated in states, events and alerts.
  package static let userBytes = 256

  /// Size, encoding, grammar and depth, before a typed decoder reads a payload.
  package static func check(_ payload: [UInt8]) throws(Rejection) {
    try checkSize(payload)
    do throws(JSONFlaw) { try UntrustedJSON.check(payload, depth: nesting, skipsByteOrderMark: true) } catch {
      throw Rejection(error)
    }
  }

  static func checkSize(_ payload: [UInt8]) throws(Rejection) {
    guard payload.count <= payloadBytes else {
      throw Rejection(.tooLarge, message: "a payload has at most \(payloadBytes) bytes, this one has \(payload.count)")
    }
  }
}
