// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperSupport

/// Why a request matters, in one sentence for the person who decides. What was checked comes first: the login or
/// user, the border agent id. Names that any login may choose are quoted.
enum ConsentReason {
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
