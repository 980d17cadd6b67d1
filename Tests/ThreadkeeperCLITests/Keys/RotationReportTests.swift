// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import KeychainCore
@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite struct RotationReportTests {
  @Test func aFailureEndsTheSameBesideADaemon() throws {
    for error in [
      KeychainError(.decode, "the store is not what its manifest says"),
      KeychainError(.notAvailable, "another renews them", isTemporary: true),
      KeychainError(.diskFull, "the disk is full"),
    ] {
      var rotation = StoreReport.Rotation(running: true)
      rotation.fail(error)
      let bytes = try JSONEncoder().encode(rotation)
      let told = try JSONDecoder().decode(StoreReport.Rotation.self, from: bytes)
      #expect(!told.running && !told.finished)
      #expect(told.failure?.status == CommandFailure(error).status)
      #expect(told.failure?.message == error.message)
    }
    #expect(StoreReport.Rotation().failure == nil)
  }

  @Test func passesThatFollowEachOtherAreOneWork() {
    let first = RotationReport(isFinished: true, renewed: 20, locked: 5, retiredKeys: 6)
    let second = RotationReport(
      wasPending: true, isFinished: true, renewed: 5, damaged: 1, retiredKeys: 1)
    let sum = second.after(first)
    #expect(
      sum == RotationReport(isFinished: true, renewed: 25, damaged: 1, retiredKeys: 7))
    #expect(second.after(nil) == second)
    var rotation = StoreReport.Rotation(running: true)
    rotation.items = 20
    rotation.finish(sum)
    #expect(
      rotation.text == """
        20 items have new keys, 7 old keys are removed.
        1 items are damaged and were left as they are. `threadkeeper store verify` names them.

        """)
  }
}
