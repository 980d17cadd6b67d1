// SPDX-License-Identifier: Apache-2.0

import Terminal

/// Why a request matters, in one sentence for the person who decides. What was checked comes first: the login or
/// user, the border agent id. Names that any login may choose are quoted.
enum ConsentReason {
  /// What a yes does, for the name of a button: `give a1b2c3d4e5f60718 "Living room" of login hub (team hub) the
  /// credentials of "home"`. The login is what the broker vouches for. At most 300 characters, because every name in
  /// it is bounded.
  static func summary(requester: ConsentRequester, subject: ConsentSubject) -> String {
    let receiver = subject.router.map { "\($0) of \(requester)" } ?? "\(requester)"
    let what =
      subject.networks.count == 1 ? subject.quotedNames : "\(subject.networks.count) networks"
    return "give \(receiver) the credentials of \(what)"
  }

  /// - Parameters:
  ///   - namingHome: where there are several.
  ///   - keyHasChanged: "always" was approved for the same, with another network key.
  static func sentence(
    requester: ConsentRequester, subject: ConsentSubject, namingHome: Bool = false,
    keyHasChanged: Bool = false
  ) -> String {
    let what =
      subject.networks.count == 1
      ? "the network key of \(subject.networkNames)"
      : "the network keys of \(subject.networks.count) networks: \(subject.networkNames)"
    let place = namingHome ? ", home \(ShownName.account(subject.home))" : ""
    let change =
      keyHasChanged ? "; the network key has changed since \"always\" was approved for this" : ""
    let why =
      "\(requester) would get \(what)\(place): with it, devices can be put onto the network and what is"
      + " said on it can be read, also after the consent is taken back\(change)"
    guard let router = subject.router else { return why }
    let network = ShownName.quoted(router.networkName) ?? "a network without a name"
    return
      "\(router) is on \(network); give it the credentials of \(subject.quotedNames)? \(why)"
  }
}
