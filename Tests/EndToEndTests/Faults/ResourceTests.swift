// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite("A system that gives the daemon nothing more", .inTurns, .timeLimit(.minutes(30)))
struct ResourceTests {
  @Test("Without open files the daemon says so, and is connected again when there are some")
  func files() async throws {
    let scene = try await ResourceScene()
    try await scene.withoutFiles()
    try await scene.end()
  }

  @Test("Without memory nothing that was taken is lost, whether the daemon ends or not")
  func memory() async throws {
    let scene = try await ResourceScene(routers: 200)
    try await scene.withoutMemory(most: 0)
    try await scene.end()
  }
}

@Suite("A system that gives nothing more, again and again", .serialized)
struct ResourceSoakTests {
  @Test("Without open files", .enabled(if: Soak.files.isWanted, "`make soak` runs it"))
  func soakFiles() async throws {
    try await Soak.files.measure { ledger in
      // A daemon whose connections end again and again waits longer and longer.
      for _ in 1...3 {
        let scene = try await ResourceScene()
        for _ in 1...3 {
          try await scene.withoutFiles()
          ledger.round()
        }
        try await scene.end(ledger)
      }
      ledger.name("the log: \"raise the limit of open files\"")
    }
  }

  @Test("Without memory", .enabled(if: Soak.memory.isWanted, "`make soak` runs it"))
  func soakMemory() async throws {
    try await Soak.memory.measure { ledger in
      let scene = try await ResourceScene(routers: 500)
      for _ in 1...20 {
        try await scene.withoutMemory(most: 1 << 20)
        ledger.round()
      }
      ledger.name(
        "its end, \(scene.ends) times, \(scene.stalls) of them by force; else it had enough")
      try await scene.end(ledger)
    }
  }
}
