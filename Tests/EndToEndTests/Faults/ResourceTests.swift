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

  @Test(
    "A daemon that gets a part of the memory that it needs ends, or is killed, and loses nothing"
  )
  func memory() async throws {
    let scene = try await ResourceScene(routers: 200)
    // It may have what it needs before it gets less.
    for share in [0.25, 0.2, 0.15, 0.1, 0.05] where scene.ends + scene.kills == 0 {
      try await scene.withoutMemory(share: share)
    }
    #expect(scene.ends + scene.kills == 1, "it had enough")
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
      ledger.name("status and log: \"raise the limit of open files\"")
    }
  }

  @Test("Without memory", .enabled(if: Soak.memory.isWanted, "`make soak` runs it"))
  func soakMemory() async throws {
    try await Soak.memory.measure { ledger in
      let rounds = 12
      let scene = try await ResourceScene(routers: 500)
      for round in 1...rounds {
        // From far too little to nearly enough, at first at once, then anywhere until the end of its work.
        try await scene.withoutMemory(
          share: Double(round) / Double(rounds + 1),
          after: .milliseconds(round <= 4 ? 0 : .random(in: 0...150)))
        ledger.round()
      }
      try Soak.check(scene.ends > 1, "it had enough in most of \(rounds) rounds")
      ledger.name(
        "its end, \(scene.ends) times; killed \(scene.kills) times, \(scene.killsBeforeReady) of them at the start"
      )
      try await scene.end(ledger)
    }
  }
}
