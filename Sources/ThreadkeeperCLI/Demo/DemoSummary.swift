// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import MosquittoClient
import ThreadCredentialStore
import ThreadDataset
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is left at the end, counted and looked for, not claimed.
struct DemoSummary {
  let stage: DemoStage
  let keys: [NetworkKey]

  func tell() throws {
    let registry = BridgeRegistry(stage.keychain.database)
    guard let home = try registry.homes().first else { return }
    let credentials = try stage.keychain.database.read {
      try ThreadCredentialStore(stage.keychain).count(in: home.name, $0)
    }
    let messages = stage.audience.messages
    let raised = messages.count { $0.isEvent("alert_raised") }
    let resolved = messages.count { $0.isEvent("alert_resolved") }
    let leaks =
      messages.count { message in keys.contains { message.payload.holds($0) } }
      + (try filesHoldingKeys())
    stage.timeline.heading("Summary")
    stage.timeline.write(
      """
        routers            \(home.routers)
        networks           \(try registry.networks(in: home).count)
        credentials        \(credentials), encrypted
        preferred network  \(home.preferredName ?? "none")
        alerts             \(raised) raised, \(resolved) resolved
        network keys found in \(messages.count) published messages and in the store's files: \(leaks)

      """)
    guard leaks == 0 else {
      throw CommandFailure(.software, "a network key was found where none may be")
    }
  }

  private func filesHoldingKeys() throws -> Int {
    let directory = stage.keychain.location.directory
    return try FileManager.default.contentsOfDirectory(atPath: directory).count { name in
      guard let data = FileManager.default.contents(atPath: directory + "/" + name) else {
        return false
      }
      let bytes = Array(data)
      return keys.contains { bytes.holds($0) }
    }
  }
}

extension IncomingMessage {
  fileprivate func isEvent(_ type: String) -> Bool {
    topic.hasSuffix("bridge/event/alert")
      && String(decoding: payload, as: UTF8.self).contains("\"\(type)\"")
  }
}

extension [UInt8] {
  /// Whether a key is in there, as bytes or as hex.
  fileprivate func holds(_ key: NetworkKey) -> Bool {
    let text = Array(key.revealedHex.utf8)
    return contains(key.bytes) || contains(text)
      || contains(Array(key.revealedHex.uppercased().utf8))
  }
}
