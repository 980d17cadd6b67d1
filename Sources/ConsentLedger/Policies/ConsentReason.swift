// SPDX-License-Identifier: Apache-2.0

/// Why a request matters, in one sentence for the person who decides.
enum ConsentReason {
  /// - Parameter namingHome: where there are several.
  static func sentence(
    requester: ConsentRequester, subject: ConsentSubject, namingHome: Bool = false
  ) -> String {
    let what =
      subject.networks.count == 1
      ? "the network key of \(subject.networkNames)"
      : "the network keys of \(subject.networks.count) networks: \(subject.networkNames)"
    let place = namingHome ? ", home \(subject.home)" : ""
    let why =
      "\(requester) would get \(what)\(place): with it, devices can be put onto the network and what is"
      + " said on it can be read, also after the consent is taken back"
    guard let router = subject.router else { return why }
    return
      "\(router) is on \(router.networkName); give it the credentials of \(subject.names)? \(why)"
  }
}
