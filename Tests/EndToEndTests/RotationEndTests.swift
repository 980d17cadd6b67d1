// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import TestKit
import Testing

@Suite("Rotations that are left", .inTurns, .timeLimit(.minutes(30)))
struct RotationEndTests {
  private let place: RotatingHome
  private var installation: Installation { place.installation }
  private var user: String { place.user }

  init() async throws { place = try await RotatingHome() }

  @Test("a daemon that ends in the middle: the command says how far it is, and ends with 75")
  func daemonEnds() async throws {
    try place.fill()
    // On a busy machine a rotation may be over before its daemon ends.
    for _ in 0..<10 {
      let daemon = try await installation.start()
      let begun = try await place.audit().filter { $0 == "\(user): rotation_begun" }.count
      async let rotation = installation.command("keys", "rotate")
      try await eventually("the rotation to begin") {
        try await place.audit().filter { $0 == "\(user): rotation_begun" }.count > begun
      }
      #expect(try await daemon.stop() == .exit(0))
      let left = try await rotation
      guard try await installation.json("status")["store"]?["rotation_pending"] == true else {
        continue
      }
      #expect(left.status == 75, "\(left.output)\(left.error)")
      #expect(left.error.contains("items have new keys so far"), "\(left.error)")
      #expect(left.error.contains("when it starts again"), "\(left.error)")
      let again = try await installation.start()
      try await place.untilRotated()
      #expect(try await again.stop() == .exit(0))
      return
    }
    Issue.record("no daemon ended in the middle")
  }

  /// `keys rotate` at a terminal, stopped by Ctrl-C before it was over.
  private func stopped() async throws -> TerminalSession {
    for _ in 0..<10 {
      let session = try TerminalSession(
        ["keys", "rotate", "--config", installation.configuration],
        environment: installation.environment)
      try await session.until("items")
      session.type("\u{3}")
      let status = try await session.end()
      guard status == 0 else {
        #expect(status == 130)
        return session
      }
    }
    throw DaemonProcess.Unexpected(description: "every rotation was over before it was stopped")
  }

  @Test("Ctrl-C: without a daemon the rotation is left at a step, and said; the next one goes on")
  func interrupted() async throws {
    try place.fill()
    let session = try await stopped()
    #expect(
      session.screen.contains("of \(RotatingHome.items) items have new keys so far"),
      "\(session.screen)")
    #expect(try await installation.json("status")["store"]?["rotation_pending"] == true)
    let next = try await installation.command("keys", "rotate")
    #expect(next.status == 0 && next.output.contains("An interrupted rotation is finished"))
    #expect(try installation.verify() == VerificationReport(items: RotatingHome.items))
  }

  @Test("Ctrl-C: a running daemon goes on without the command")
  func daemonGoesOn() async throws {
    try place.fill()
    let daemon = try await installation.start()
    let session = try await stopped()
    #expect(session.screen.contains("The daemon goes on with the rotation"), "\(session.screen)")
    try await place.untilRotated()
    #expect(try await daemon.stop() == .exit(0))
    #expect(try installation.verify() == VerificationReport(items: RotatingHome.items))
  }
}
