// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// Everybody's work while a rotation is under way.
@Suite struct RotationUnderWayTests {
  private final class Flag: Sendable {
    let isUp = Locked(false)
  }

  @Test func betweenAnyTwoStepsEverythingIsFoundInEveryWay() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    let beside = try rotated.store.openBeside()
    var steps = 0
    try keychain.rotateKeys { _ in
      steps += 1
      for each in [keychain, beside] {
        do {
          try each.database.read { tx in
            #expect(try RotatedStore.contents(each, in: tx) == RotatedStore.expected(0..<18))
            for number in 0..<18 { try RotatedStore.expectFound(number, each, in: tx) }
          }
        } catch { Issue.record(error) }
      }
      return true
    }
    #expect(steps == 5)
    #expect(try beside.items(ItemQuery()).count == 18)
    #expect(try beside.verify().matchesManifest)
    #expect(beside.quarantine.isEmpty && keychain.quarantine.isEmpty)
  }

  @Test func aDuplicateIsADuplicateUnderWhicheverKeyTheOtherOneStands() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    try keychain.rotateKeys { _ in
      for number in 0..<18 {
        refuses(.duplicateItem) { try keychain.add(RotatedStore.item(number)) }
      }
      // Items 3 and 4 would be one.
      for (number, other) in [(3, 4), (4, 3), (16, 3), (3, 16)] {
        refuses(.duplicateItem) {
          let item = try #require(
            try keychain.items(
              ItemQuery(.genericPassword, RotatedStore.item(number).attributes)
            ).first)
          try keychain.update(
            item, attributes: [.account: .string(RotatedStore.name(other))])
        }
      }
      return true
    }
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    #expect(try keychain.verify(.everything) == VerificationReport(items: 18))
  }

  @Test func whatIsAddedChangedAndDeletedMeanwhileStaysSo() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    var next = 18
    try keychain.rotateKeys { _ in
      do {
        // One from the front and one from the back, so that either was renewed or was not.
        let items = try keychain.items(ItemQuery())
        for item in [items[1], items[items.count - 2]] {
          try keychain.update(item, secret: Sample.secret("changed"))
        }
        try keychain.update(items[items.count - 3], attributes: [.label: .string("changed")])
        for item in [items[0], items[items.count - 1]] { try keychain.delete(item) }
        try keychain.add(RotatedStore.item(next))
      } catch { Issue.record(error) }
      next += 1
      return true
    }
    #expect(next > 20)
    let contents = try rotated.contents()
    #expect(contents.count == 18 - (next - 18))
    #expect(try rotated.keyRecords().filter { $0.hasSuffix(".1") } == ["2.1", "11.1"])
    try rotated.store.reopen()
    #expect(rotated.keychain.condition == .healthy)
    #expect(try rotated.contents() == contents)
    #expect(
      try rotated.keychain.verify(.everything) == VerificationReport(items: contents.count))
  }

  @Test func aReaderThatBeganBeforeSeesWhatItSawAndHoldsTheOldKeys() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    try keychain.database.read { tx in
      // The snapshot is taken here.
      _ = try keychain.items(matching: ItemQuery(), in: tx)
      #expect(try keychain.rotateKeys().isFinished)
      try keychain.add(RotatedStore.item(18))
      #expect(try RotatedStore.contents(keychain, in: tx) == RotatedStore.expected(0..<18))
      for number in 0..<18 { try RotatedStore.expectFound(number, keychain, in: tx) }
      #expect(!keychain.erasure.retired.isEmpty)
    }
    try keychain.tick()
    keychain.keys.loaded.withLock { loaded in
      #expect(keychain.erasure.retired.isEmpty && loaded.indexKeys.map(\.epoch) == [2])
      let epochs = loaded.keys.keys.filter { $0.purpose != .audit && $0.purpose.rawValue > 3 }
      #expect(epochs.allSatisfy { $0.epoch == 2 })
    }
    #expect(try rotated.contents() == RotatedStore.expected(0..<19))
    #expect(keychain.quarantine.isEmpty)
  }

  @Test func manyThreadsWorkWhileTheKeysAreRenewedTimeAndAgain() async throws {
    let rotated = try RotatedStore(items: 60)
    let keychain = rotated.keychain
    let flag = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { flag.isUp.withLock { $0 = true } }
        for _ in 0..<6 {
          let report = try keychain.rotateKeys()
          #expect(report.isFinished)
        }
      }
      for thread in 0..<2 {
        group.addTask {
          var number = 0
          while !flag.isUp.withLock({ $0 }) {
            let account = "thread \(thread)-\(number)"
            let item = try keychain.add(Sample.password(account, secret: account))
            #expect(try keychain.secret(of: item) == Sample.secret(account))
            try keychain.delete(item)
            number += 1
          }
        }
      }
      group.addTask {
        while !flag.isUp.withLock({ $0 }) {
          for number in stride(from: 0, to: 60, by: 7) {
            try keychain.database.read { try RotatedStore.expectFound(number, keychain, in: $0) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try rotated.contents() == RotatedStore.expected(0..<60))
    #expect(try keychain.verify(.everything) == VerificationReport(items: 60))
  }

  @Test func twoProgramsShareAStoreWhoseKeysAreRenewed() throws {
    let rotated = try RotatedStore()
    rotated.keychain.close()
    func shared() throws -> Keychain {
      try Keychain.open(
        at: rotated.store.location, with: rotated.store.keyFile, access: .shared,
        options: RotatedStore.options)
    }
    let (one, other) = (try shared(), try shared())
    var number = 18
    try one.rotateKeys { _ in
      do {
        try other.write { tx in _ = try other.add(RotatedStore.item(number), in: tx) }
        refuses(.duplicateItem) {
          try other.write { tx in _ = try other.add(RotatedStore.item(17), in: tx) }
        }
        try other.read { tx in try RotatedStore.expectFound(17, other, in: tx) }
      } catch { Issue.record(error) }
      number += 1
      return true
    }
    for each in [one, other] {
      let contents = try each.read { try RotatedStore.contents(each, in: $0) }
      #expect(contents == RotatedStore.expected(0..<number))
      each.close()
    }
    try rotated.store.reopen()
    #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: number))
  }

  @Test func theFirstKeyOfAClassThatIsMadeMeanwhileChangesNothing() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    var isAdded = false
    let report = try keychain.rotateKeys { progress in
      guard progress.renewed == 8, !isAdded else { return true }
      isAdded = true
      do {
        try keychain.add(Sample.password("new", accessible: .alwaysThisDeviceOnly))
      } catch { Issue.record(error) }
      return true
    }
    #expect(isAdded && report.isFinished && report.renewed == 18, "\(report)")
    #expect(try keychain.verify(.everything) == VerificationReport(items: 19))
  }
}
