// SPDX-License-Identifier: Apache-2.0

import Bridge
import ConsentLedger
import DaemonSocket
import Dispatch
import KeychainCore

#if canImport(Glibc)
  import Glibc
#endif

/// Decides in the keeper what people say at the command line.
struct ConsentService: Sendable {
  let keychain: Keychain
  let desk: ConsentDesk
  private let turns = DispatchQueue(label: "threadkeeper.consent")

  init(keychain: Keychain, desk: ConsentDesk) {
    self.keychain = keychain
    self.desk = desk
  }

  /// - Returns: nil when it is no message of this kind, or not from who may send one: this user and
  ///   root.
  func answer(_ octets: [UInt8], from peer: SocketPeer) async -> [UInt8]? {
    guard peer.user == geteuid() || peer.user == 0,
      let message = ConsentMessage(octets: octets)
    else { return nil }
    return await message.answer(on: turns) { try report(message, by: peer.user) }
  }

  private func report(_ message: ConsentMessage, by user: UInt32) throws -> ConsentReport {
    let id = message.id ?? ""
    switch message.command {
    case .list: return try ConsentWork(keychain).list(namingHome: desk.hasSeveralHomes)
    case .grants: return try ConsentWork(keychain).grants()
    case .history: return try ConsentWork(keychain).history(message.limit)
    case .approve:
      return ConsentReport(
        decision: .init(try desk.approve(id, message.scope ?? .once, by: user)))
    case .deny: return ConsentReport(decision: .init(try desk.deny(id, by: user)))
    case .revoke: return ConsentReport(grants: [.init(try desk.revoke(id, by: user))])
    }
  }
}
