import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge
@testable import Home
@testable import HomeStore

/// Programs and automations are written against these codes, and people read these sentences.
@Suite("Refusals of requests") struct AnswerTextTests {
  private static let agent = BorderAgentID.number(0xA1B2_C3D4_E5F6_0718)
  private static let network = ExtendedPANID(number: 0x1111_1111_2222_2222)
  private static let id = ConsentID(255)

  struct Row: CustomTestStringConvertible, Sendable {
    let refusal: HomeRefusal
    var command: RequestCommand?
    let code: AnswerCode
    var field: String?
    let message: String

    var testDescription: String { "\(refusal), \(command?.rawValue ?? "-")" }

    init(
      _ refusal: HomeRefusal, _ command: RequestCommand? = nil, _ code: AnswerCode, _ field: String? = nil,
      _ message: String
    ) {
      (self.refusal, self.command, self.code) = (refusal, command, code)
      (self.field, self.message) = (field, message)
    }
  }

  @Test("Of what does not open it is said what deletes it") func damaged() throws {
    let writer = AnswerWriter(home: "home", datasets: try DatasetReader(key: LoopKit.hashKey)) { _ in nil }
    let summary = try #require(DatasetSummary(.of(1), key: LoopKit.hashKey))
    let parts: [(RecordKey, String)] = [
      (.home, "the stored preferred network is damaged"),
      (.shared("ha", Self.network), "`threadkeeper networks forget`"),
      (.router(Self.agent), "`threadkeeper credentials delete`"),
    ]
    for (key, part) in parts {
      let failure = #expect(throws: AnswerFailure.self) { try writer.opened(summary, at: key) }
      #expect(failure?.known == .damagedCredentials && failure?.message.contains(part) == true)
    }
  }

  static let rows: [Row] = [
    Row(
      .notPreferred(network), nil, .conflict, "ext_pan_id",
      "the network 1111111122222222 is not the preferred one, whose credentials alone are accepted"),
    Row(
      .nothingToAccept(network), nil, .notFound, "ext_pan_id",
      "nobody shares credentials of the preferred network 1111111122222222 that it has not got"),
    Row(
      .onlyOlderShared(network), nil, .notFound, "ext_pan_id",
      "what is shared of the preferred network 1111111122222222 is older, or not complete"),
    Row(
      .severalShared(["ha", "a b"]), nil, .invalidPayload, "ext_pan_id",
      "the logins ha, \"a b\" share different keys of the preferred network"),
    Row(
      .ofAnotherTeam(agent), .storeCredentials, .notAuthorized, "border_agent_id",
      "this border agent id belongs to another team; `threadkeeper routers remove "
        + "a1b2c3d4e5f60718 --home attic` gives it to the next login that announces it"),
    Row(
      .ofAnotherTeam(agent), .deleteCredentials, .notAuthorized, "border_agent_id",
      "this border agent id belongs to another team"),
    Row(
      .mayNotPrefer, .setPreferred, .notAuthorized, nil,
      "only a person may choose the preferred network: with `threadkeeper preferred set`, or over "
        + "MQTT as one of `consent.approvers`"),
    Row(
      .onlyAdministrator, .forgetPreferred, .notAuthorized, nil,
      "only the daemon's own user and root may do this, with `threadkeeper preferred forget`"),
    Row(
      .onlyAdministrator, .forgetNetwork, .notAuthorized, nil,
      "only the daemon's own user and root may do this, with `threadkeeper networks forget`"),
    Row(
      .mayNotDecide, .approveConsent, .notAuthorized, nil,
      "only users in `consent.approvers`, and the one in `home_assistant.login`, decide over MQTT"),
    Row(.onceOnly, .approveConsent, .notAuthorized, "scope", "through Home Assistant a request is approved once only"),
    Row(
      .adoptionsOnly(id), .approveConsent, .notAuthorized, "id",
      "Home Assistant decides about adoptions only. Decide with `threadkeeper consent approve "
        + "c-00000000000000ff`, or set `home_assistant.consent: all`"),
    Row(
      .wrongButton, .approveConsent, .notAuthorized, "token",
      "this is not the token of the request in `bridge/consent`: press the button that is shown now"),
    Row(
      .buttonsAltered(id), .approveConsent, .notAuthorized, nil,
      "another client has altered a device of threadkeeper in Home Assistant (`DiscoveryAltered`): "
        + "decide in a minute, or with `threadkeeper consent approve c-00000000000000ff`"),
    Row(.noKey, .getPreferred, .notEnrolled, nil, "the answer holds secrets, and this user has no key to seal them to"),
    Row(
      .unknownRouter(agent), .askConsent, .notFound, "border_agent_id", "no border router a1b2c3d4e5f60718 is listed"),
    Row(
      .noCredentials(agent), .deleteCredentials, .notFound, "border_agent_id",
      "no credentials of a1b2c3d4e5f60718 are stored"),
    Row(
      .noCredentials(agent), .getCredentials, .notFound, "border_agent_id",
      "no credentials of this border router are stored"),
    Row(.noPreferred, .getPreferred, .notFound, nil, "there is no preferred network"),
    Row(.noPreferred, .forgetPreferred, .notFound, nil, "no network is preferred"),
    Row(
      .preferredWithoutCredentials(network), .getPreferred, .notFound, nil,
      "the network 1111111122222222 is preferred, but its credentials are not here"),
    Row(.noCredentialsOfNetwork, .getNetwork, .notFound, "ext_pan_id", "no credentials of this network are stored"),
    Row(
      .noCredentialsOfNetwork, .setPreferred, .notFound, "ext_pan_id",
      "no credentials of this network are stored, and no listed border router is on it"),
    Row(
      .noCredentialsOfRouterForNetwork, .setPreferred, .notFound, "border_agent_id",
      "no credentials of this border router are stored for this network"),
    Row(
      .partialCredentials(agent, [.channelMask, .pskc]), .setPreferred, .incompleteDataset, "border_agent_id",
      "the dataset of a1b2c3d4e5f60718 is not complete, so its network is not preferred with it; it lacks "
        + "Channel Mask, PSKc"),
    Row(.unknownFormer, .setPreferred, .notFound, "id", "no network is kept under this id"),
    Row(.noNetworkOfName, .setPreferred, .notFound, "network_name", "no network of this name is stored"),
    Row(
      .severalOfName([network, ExtendedPANID(number: 1)]), .setPreferred, .invalidPayload, "network_name",
      "2 networks have this name: 1111111122222222, 0000000000000001"),
    Row(
      .severalKeys(
        network,
        [
          .init(areCurrent: true, seconds: 7, owners: [.router(agent), .former(17)]),
          .init(areCurrent: false, seconds: 8, owners: [.shared("ha", network)]),
        ]), .setPreferred, .invalidPayload, "ext_pan_id",
      "different keys of this network are known: the current ones (timestamp 7) of a1b2c3d4e5f60718 "
        + "Attic, p-00000011; those (timestamp 8) of login ha; say whose with `border_agent_id`, or with an " + "`id`"),
    Row(.isPreferred, .forgetNetwork, .conflict, "ext_pan_id", "this is the preferred network, which is not deleted"),
    Row(
      .notInHistory(isUsed: false), .forgetNetwork, .notFound, "ext_pan_id",
      "nothing of this network is kept in the history"),
    Row(
      .notInHistory(isUsed: true), .forgetNetwork, .notFound, "ext_pan_id",
      "nothing of this network is kept in the history; routers use it, and `threadkeeper credentials "
        + "delete` deletes theirs"),
    Row(
      .tooFarAhead, .storeCredentials, .conflict, "dataset",
      "its active timestamp is more than a year ahead of the clock"),
    Row(
      .tooManyRouters(9), .storeCredentials, .tooManyRouters, "border_agent_id",
      "this team has 9 border agent ids already"),
    Row(
      .homeIsFull(9), .storeCredentials, .tooManyRouters, "border_agent_id", "this home has 9 border agent ids already"),
    Row(.tooMany(512), .listCredentials, .tooLarge, nil, "there are more than 512, which no answer can hold"),
    Row(
      .tooMany(15), .nearbyNetworks, .tooLarge, nil,
      "the answer is too large to be sealed; `network/get` asks for one network"),
    Row(
      .changed, nil, .conflict, nil,
      "what was agreed to has changed since: repeat the request, and a person is asked again"),
    Row(.keyIsGone, nil, .notEnrolled, nil, "the key that the answer was to be sealed to is not enrolled any more"),
    Row(
      .nothingToAskAgain(agent, .due), .askConsent, .conflict, "border_agent_id",
      "a person is asked about Attic already"),
    Row(
      .nothingToAskAgain(agent, .sent), .askConsent, .conflict, "border_agent_id",
      "Attic is being given the credentials already"),
    Row(
      .nothingToAskAgain(agent, .notEnrolled), .askConsent, .conflict, "border_agent_id",
      "nothing can be sealed for the login of Attic"),
    Row(
      .nothingToAskAgain(agent, nil), .askConsent, .conflict, "border_agent_id", "there is nothing to ask about Attic"),
    Row(.consent(.rateLimited(waiting: 5)), .getPreferred, .rateLimited, nil, "5 requests wait for consent already"),
    Row(.consent(.denied), .getPreferred, .consentDenied, nil, "the same request was refused a moment ago"),
    Row(.consent(.staleID(nil)), .denyConsent, .staleID, "id", "no request c-00000000000000ff waits for consent"),
    Row(
      .consent(.staleID(.expired)), .denyConsent, .staleID, "id", "the request c-00000000000000ff is expired already"),
    Row(
      .consent(.notAuthorized), .approveConsent, .notAuthorized, nil,
      "nobody approves a request of his own, or of his own team"),
    Row(.consent(.notFound), nil, .notFound, nil, "there is no such grant"),
    Row(
      .consent(.tooManyGrants(500)), .approveConsent, .conflict, nil,
      "there are 500 grants already; revoke some, or approve for once"),
    Row(.expired, nil, .consentExpired, nil, "nobody has decided in time"),
    Row(
      .damaged, nil, .damagedCredentials, nil,
      "it is not found, and records of the home are damaged: one of them may be it"),
    Row(.denied, nil, .consentDenied, nil, "a person has refused it"),
  ]

  @Test("Each refusal has its code, field and sentence", arguments: rows) func texts(_ row: Row) {
    var request = row.command.map { ThreadRequest($0) }
    if row.command == .approveConsent || row.command == .denyConsent { request?.id = Self.id.questionText }
    let failure = AnswerFailure(row.refusal, to: request, home: "attic") { _ in "Attic" }
    #expect(failure.known == row.code)
    #expect(failure.field == row.field)
    #expect(failure.message == row.message)
    #expect(!failure.message.hasSuffix("."))
  }

  @Test("A command names its home only where there are several") func home() throws {
    var writer = AnswerWriter(home: "attic", datasets: try DatasetReader(key: LoopKit.hashKey)) { _ in nil }
    func message() -> String? {
      do throws(AnswerFailure) {
        _ = try writer.data(of: .refused(.ofAnotherTeam(Self.agent)))
        return nil
      } catch { return error.message }
    }
    #expect(message()?.contains("remove a1b2c3d4e5f60718` gives") == true)
    writer.namesHome = true
    #expect(message()?.contains("remove a1b2c3d4e5f60718 --home attic` gives") == true)
  }

  @Test("A command that nobody should paste blindly names no home that a shell would take apart") func advice() {
    #expect(OwnershipAdvice.message(Self.agent, home: "a; b").contains(" --home HOME`"))
    #expect(OwnershipAdvice.message(Self.agent, home: "-x").contains(" --home HOME`"))
    #expect(OwnershipAdvice.message(Self.agent, home: nil).contains("remove a1b2c3d4e5f60718`"))
  }

  @Test("Nothing that waiting could change ends a command as wrong usage") func exit() {
    #expect(AnswerFailure(.isPreferred, to: ThreadRequest(.forgetNetwork)).exit == 64)
  }
}
