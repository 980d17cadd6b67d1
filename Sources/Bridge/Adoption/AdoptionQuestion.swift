// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadCredentialStore

/// What a person is asked: whether a router may be given the preferred credentials.
enum AdoptionQuestion {
  /// What a question names, beside the commands that clients can send.
  static let command = "dataset/set"

  /// - Parameter team: of the login that it would be sent to.
  static func request(
    about adoption: Adoption, _ router: RouterRecord, team: String
  ) -> ConsentRequest {
    let networks = adoption.preferred.extendedPANID.map {
      [
        ConsentNetwork(
          id: $0, name: adoption.preferred.networkName ?? "",
          keyFingerprint: NetworkKeyFingerprint.make(of: adoption.preferred))
      ]
    }
    let subject = ConsentSubject(
      home: adoption.home, command: command, networks: networks ?? [],
      router: ConsentRouter(
        agent: router.agent, name: router.name,
        networkName: (router.isElsewhere ? router.currentNetwork?.description : nil)
          ?? adoption.reported.networkName ?? "another network"))
    // No answer is owed: the router is sent a message on a topic of its own.
    return ConsentRequest(
      subject,
      by: ConsentRequester(
        .mqttUser(adoption.user), team: team, fingerprint: adoption.key), reply: .socket)
  }
}
