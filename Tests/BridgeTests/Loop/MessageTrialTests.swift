import Testing

@testable import Bridge

@Suite("Messages that end the process") struct MessageTrialTests {
  @Test("One that ended three processes is rejected, and those around it are not") func rejected() throws {
    var kit = try LoopKit().restarted(cleanly: false)
    try kit.receive(.announce(1))
    for _ in 0..<3 {
      #expect(kit.loop.batchLimit == 1)
      #expect(kit.home.routers.count == 1)
      // The process ends between the note and what the message changes.
      kit.memory.refuses(after: 1) { try kit.receive(.announce(2)) }
      kit = try kit.restarted(cleanly: false)
    }
    try kit.receive(.announce(2))
    #expect(kit.rejected == ["cannot_apply"])
    #expect(kit.follower.rejections.first?.message.contains("ended 3 times") == true)
    // It comes again, because its acknowledgement was lost.
    try kit.receive(.announce(2))
    #expect(kit.rejected.count == 2)
    try kit.receive(.announce(3))
    #expect(kit.home.routers.map(\.agent) == [.agent(1), .agent(3)])
  }

  @Test("A message that comes again as it was is no end of a process, and none once time has passed") func repeated()
    throws
  {
    var kit = try LoopKit().restarted(cleanly: false)
    try kit.receive(.announce(1))
    for _ in 0..<5 {
      // The power is cut after it.
      kit = try kit.restarted(cleanly: false)
      for _ in 0..<6 { try kit.receive(.message("heartbeat", 1)) }
      try kit.pass()
      #expect(kit.rejected.isEmpty)
    }
    #expect(kit.loop.batchLimit == 1)
  }

  @Test("A message that was not handled is not forgotten meanwhile") func unhandled() throws {
    var kit = try LoopKit().restarted(cleanly: false)
    for _ in 0..<3 {
      kit.memory.refuses(after: 1) { try kit.receive(.announce(2)) }
      try kit.pass()
      kit = try kit.restarted(cleanly: false)
    }
    try kit.receive(.announce(2))
    #expect(kit.rejected == ["cannot_apply"])
  }

  @Test("A commit that fails is no end of a process") func failures() throws {
    let kit = try LoopKit().restarted(cleanly: false)
    for turn in 0..<5 {
      // The first time, it is noted.
      kit.memory.refuses(after: turn == 0 ? 1 : 0) { try kit.receive(.announce(1)) }
    }
    let later = try kit.restarted(cleanly: false)
    try later.receive(.announce(1))
    #expect(later.rejected.isEmpty)
    #expect(later.home.routers.count == 1)
  }

  @Test("After an end as it should be, or a batch of messages, none is tried alone") func ends() throws {
    let kit = try LoopKit()
    #expect(try kit.restarted().loop.batchLimit > 1)
    let later = try kit.restarted(cleanly: false)
    try later.loop.received((0..<MessageTrial.messages).map { .announce($0) })
    #expect(later.loop.batchLimit == MessageTrial.messages)
    let commits = later.memory.commits
    try later.loop.received((2_000..<2_100).map { .announce($0) })
    #expect(later.memory.commits == commits + 1)
  }
}
