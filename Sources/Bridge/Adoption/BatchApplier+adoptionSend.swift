// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import SodiumCrypto
import ThreadCredentialStore
import ThreadDataset

/// What a person has agreed to leaves for the router.
extension BatchApplier {
  /// Makes the message for a connection, and notes that it is sent. From then on the router has time to say
  /// that it uses what it gets: until it has, the clock sends the same again, in every process and on every
  /// connection anew.
  ///
  /// - Parameter timeout: seconds.
  func send(
    _ agreed: Adoption, to stored: RouterRecord, for connection: Int64, home: HomeContext,
    timeout: Int
  ) throws {
    // No walk may have come to this router yet, and "always" can be taken back meanwhile.
    guard let dataset = try readableDataset(of: stored.agent, home: home),
      let preferred = try preferredNetwork(of: home),
      case .mismatch = PreferredCheck(dataset, of: stored, preferred: preferred),
      try holds(agreed, of: stored)
    else { return try beginAnew(stored, home: home) }
    var adoption = agreed
    adoption.phase = .sent
    adoption.preferred = preferred
    adoption.reported = dataset
    adoption.id = "a-\(Hexadecimal.encode(RandomBytes.make(8)))"
    adoption.deadline = now.adding(seconds: timeout).milliseconds
    guard try write(adoption, for: connection) else { return }
    try store.save(adoption, tx)
    let request = question(of: adoption, stored)
    try consents.noteDisclosure(
      of: request.subject, to: request.requester, by: adoption.consent, tx)
    var router = stored
    router.adoption = .sent
    var record = EventRecord(time: now, types: .datasetSent, home: home.record.id)
    record.router = router.agent
    record.user = adoption.user
    record.network = preferred.extendedPANID
    record.detail.networkName = preferred.networkName
    record.detail.consent = adoption.consent
    try finish(
      router, stored: stored, dataset: dataset, record: record, trigger: "adoption", home: home)
  }

  /// What a person is asked, or was.
  func question(of adoption: Adoption, _ router: RouterRecord) -> ConsentRequest {
    let networks = adoption.preferred.extendedPANID.map {
      [
        ConsentNetwork(
          id: $0, name: adoption.preferred.networkName ?? "",
          keyFingerprint: NetworkKeyFingerprint.make(of: adoption.preferred))
      ]
    }
    let subject = ConsentSubject(
      home: adoption.home, command: Self.adoptionCommand, networks: networks ?? [],
      router: ConsentRouter(
        agent: router.agent, name: router.name,
        networkName: (router.isElsewhere ? router.currentNetwork?.description : nil)
          ?? adoption.reported.networkName ?? "another network"))
    // Nobody waits for an answer: the router is told on a topic of its own.
    return ConsentRequest(
      subject,
      by: ConsentRequester(
        .mqttUser(adoption.user), team: configuration.team(adoption.user),
        fingerprint: adoption.key), reply: .socket)
  }

  /// Whether that by which it is given still counts: what was agreed to for good can be taken back.
  func holds(_ adoption: Adoption, of router: RouterRecord) throws -> Bool {
    if let id = ConsentID(adoption.consent, .request) {
      guard try consents.past(id, tx)?.scope == .always else { return true }
    }
    return try consents.grant(for: question(of: adoption, router), tx) != nil
  }
}
