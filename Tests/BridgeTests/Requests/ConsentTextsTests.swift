import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Texts of questions") struct ConsentTextsTests {
  private static let network = ConsentNetwork(
    id: ExtendedPANID(number: 0x1111_1111_2222_2222), name: "home\u{202E}-\"thread", team: nil, key: nil)

  private func question(
    _ requester: Requester, _ networks: [ConsentNetwork] = [network], router: ConsentSubject.Router? = nil,
    keyHasChanged: Bool = false
  ) -> ConsentQuestion {
    ConsentQuestion(
      id: ConsentID(1), requester: requester,
      subject: ConsentSubject(router == nil ? .preferred : .adopt, networks, router: router),
      createdAt: WireTime(milliseconds: 0), expiresAt: WireTime(milliseconds: 120_000), replies: [],
      keyHasChanged: keyHasChanged)
  }

  @Test("What was checked comes first, and what others choose cannot end its quotes") func reasons() {
    var bob = Requester(.systemUser(1003), team: "bob")
    bob.userName = "bob"
    bob.program = "ha\" (root)"
    let why =
      "user bob (uid 1003, team bob), program calls itself \"ha' (root)\" would get the network key of "
      + "\"home-'thread\" (1111111122222222), home attic: with it, devices can be put onto the network "
      + "and what is said on it can be read, also after the consent is taken back"
    #expect(question(bob).reason(home: "attic") == why)
    #expect(question(bob).shortRequester == "user bob")

    let router = ConsentSubject.Router(
      agent: .number(0xA1B2_C3D4_E5F6_0718), name: "Attic", network: .init(ExtendedPANID(number: 9), "old"))
    let moved = question(Requester(.login("otbr"), team: "x y"), router: router, keyHasChanged: true)
    #expect(
      moved.reason(home: nil)
        == "a1b2c3d4e5f60718 \"Attic\" is on \"old\"; give it the credentials of \"home-'thread\"? "
        + "login otbr (team \"x y\") would get the network key of \"home-'thread\" "
        + "(1111111122222222): with it, devices can be put onto the network and what is said on it "
        + "can be read, also after the consent is taken back; the network key has changed since "
        + "\"always\" was approved for this")
    #expect(moved.shortRequester == "otbr \"Attic\"")

    // Another router and another network have the names.
    var namesake = AlertFacts.Named(ExtendedPANID(number: 9), "home")
    namesake.needsID = true
    let alike = question(
      Requester(.login("otbr"), team: "otbr"),
      router: .init(agent: .number(0xA1B2_C3D4_E5F6_0718), name: "Attic", needsID: true, network: namesake))
    #expect(
      alike.reason(home: nil).hasPrefix(
        "a1b2c3d4e5f60718 \"Attic\" is on \"home\" (0000000000000009); give it the credentials of "
          + "\"home-'thread\" (1111111122222222)? "))
    #expect(alike.shortRequester == "otbr \"Attic\" (a1b2c3d4e5f60718)")
    for (differs, standing) in [
      ([.networkKey, .pskc, .channel], "has other keys of \"home\""),
      ([.channel, .panID], "has other parameters of \"home\" (pan_id, channel)"),
      ([.extendedPANID, .networkKey], "is on \"home\" with credentials of another network"),
    ] as [(DatasetDifferences, String)] {
      let router = ConsentSubject.Router(
        agent: .number(7), name: nil, network: .init(ExtendedPANID(number: 1), "home"), differs: differs)
      #expect(
        question(Requester(.login("otbr"), team: "x"), router: router).reason(home: nil).hasPrefix(
          "0000000000000007 \(standing); give it the preferred ones? login otbr"))
    }
    let new = ConsentSubject.Router(agent: .number(7), name: nil, network: nil)
    #expect(
      question(Requester(.login("otbr"), team: "x"), router: new).reason(home: nil).hasPrefix(
        "0000000000000007 has no Thread network; give it the credentials of"))
  }

  @Test("Keys that no person has confirmed are named with the time and with who changed them") func keyChange() {
    var asked = question(Requester(.login("phone"), team: "phone"))
    asked.keyChange = KeyChange(
      at: WireTime(milliseconds: 1_700_000_000_000),
      reporters: [
        .init(.number(0xA1B2_C3D4_E5F6_0718), name: "Attic \"a\"", user: "otbr"),
        .init(.number(2), name: nil, user: nil), .init(nil, name: "uid 7", user: nil),
      ])
    let reason = asked.reason(home: nil)
    #expect(
      reason.hasSuffix(
        "; caution: the keys of \"home-'thread\" (1111111122222222) were changed at 2023-11-14T22:13:20Z by "
          + "a1b2c3d4e5f60718 \"Attic 'a'\" (login otbr) and 0000000000000002 (a program of this machine) "
          + "and a program of this machine (\"uid 7\"), and no person has confirmed that. If they are right, "
          + "run `threadkeeper preferred set p-current` first"), "\(reason)")
  }

  @Test("Who offers credentials is named by its login first, and what it calls itself is quoted") func offers() {
    func question(_ name: String?, keyHasChanged: Bool = false) -> ConsentQuestion {
      var requester = Requester(.login("ha"), team: "ha")
      requester.program = name
      let network = ConsentNetwork(id: Self.network.id, name: Self.network.name, team: "ha", key: nil)
      return ConsentQuestion(
        id: ConsentID(1), requester: requester, subject: ConsentSubject(.accept, [network]),
        createdAt: WireTime(milliseconds: 0), expiresAt: WireTime(milliseconds: 120_000), replies: [],
        keyHasChanged: keyHasChanged)
    }
    let has = #"has the credentials of the preferred network "home-'thread" (1111111122222222)"#
    let rest =
      "Use them? From then on border routers are checked against them, and whoever you agree to is " + "given them"
    #expect(question(nil).reason(home: nil) == "login ha (team ha) \(has). \(rest)")
    #expect(
      question("Home \"Assistant\"").reason(home: "attic")
        == "login ha (team ha), which calls itself \"Home 'Assistant'\", \(has), home attic. \(rest)")
    #expect(
      question(nil, keyHasChanged: true).reason(home: nil) == "login ha (team ha) \(has). "
        + rest.replacing(
          "Use them? ",
          with: "Use them? The home has other keys for this network: they are replaced, and border "
            + "routers that still use them no longer match. "))
    #expect(question(nil).shortRequester == "ha")
    #expect(question(nil).subject.command.wireName == "credentials/accept")
  }

  @Test("A change of a store says what is changed, and what is not there") func storeChange() {
    func reason(_ subject: ConsentSubject) -> String {
      var requester = Requester(.login("ha"), team: "ha")
      requester.program = "Home Assistant"
      return ConsentQuestion(
        id: ConsentID(1), requester: requester, subject: subject, createdAt: WireTime(milliseconds: 0),
        expiresAt: WireTime(milliseconds: 120_000), replies: [], keyHasChanged: false
      ).reason(home: nil)
    }
    let network = ConsentNetwork(id: Self.network.id, name: Self.network.name, team: "ha", key: nil)
    let store = #"the store of login ha (team ha), which calls itself "Home Assistant""#
    let seen =
      #"Delete the network "home-'thread" (1111111122222222) from \#(store)? No border router has been seen on it; "#
      + "those behind other local networks are not seen"
    #expect(reason(ConsentSubject(.deleteThere, [network])) == seen, "it has no key to keep")
    let keyed = ConsentNetwork(id: network.id, name: network.name, team: "ha", key: Hash128(low: 1))
    #expect(reason(ConsentSubject(.deleteThere, [keyed])) == seen + ". Its credentials are kept here")
    let router = ConsentSubject.Router(agent: .number(7), name: "Attic", network: nil)
    #expect(
      reason(ConsentSubject(.agentThere, [network], router: router)).hasPrefix(
        #"Make 0000000000000007 "Attic" the preferred border router of "home-'thread" (1111111122222222) in "#))
  }

  @Test("Of many networks the first ones are named") func manyNetworks() {
    let networks = (1...7).map {
      ConsentNetwork(id: ExtendedPANID(number: $0), name: ExactName("n\($0)"), team: "hub", key: nil)
    }
    let subject = ConsentSubject(.nearby, networks)
    #expect(subject.names == "n1, n2, n3, n4, n5, …")
    #expect(subject.networkNames.hasSuffix("(0000000000000005, stored by team hub) and 2 more"))
    #expect(subject.onlyNetwork == nil)
  }

  @Test(
    "Ids are read as they are written, and nothing else is one",
    arguments: [
      "", "c-", "c-00000000000000ff0", "c-000000000000ff", "c-00000000000000FF", "c-+0000000000000ff",
      "g-00000000000000ff", "C-00000000000000ff",
    ]) func ids(_ wrong: String)
  {
    let id = ConsentID(255)
    #expect(id.questionText == "c-00000000000000ff")
    #expect(ConsentID(question: id.questionText) == id)
    #expect(ConsentID(grant: id.grantText) == id)
    #expect(FormerNetwork.text(of: 17) == "p-00000011")
    #expect(FormerNetwork.id(of: "p-00000011") == 17)
    #expect(ConsentID(question: wrong) == nil)
  }

  @Test("A token is good for its own button only") func tokens() {
    let tokens = ButtonTokens()
    let (one, other) = (ConsentID(1), ConsentID(2))
    let network = ExtendedPANID(number: 1)
    #expect(tokens.isValid(tokens.token(for: one), for: one))
    #expect(tokens.isValid(tokens.token(forPreferring: network), forPreferring: network))
    let times = [1, 2].map { WireTime(milliseconds: $0) }
    let keeping = tokens.token(forKeepingKeysSince: times[0])
    #expect(tokens.isValid(keeping, forKeepingKeysSince: times[0]))
    #expect(!tokens.isValid(keeping, forKeepingKeysSince: times[1]))
    #expect(!tokens.isValid(tokens.token(for: one), for: other))
    #expect(!tokens.isValid(tokens.token(for: one), forPreferring: network))
    #expect(!tokens.isValid(ButtonTokens().token(for: one), for: one))
    #expect(!tokens.isValid(nil, for: one))
    #expect(!tokens.isValid("", for: one))
  }
}
