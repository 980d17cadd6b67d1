// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperCommands

@Suite("Daemons that run")
struct RunningDaemonTests {
  @Test("Only sockets that somebody listens on are found, each store once")
  func table() {
    let table = """
      Num       RefCount Protocol Flags    Type St Inode Path
      0000000000000000: 00000002 00000000 00010000 0001 01 101 /srv/a b/store/daemon.sock
      0000000000000000: 00000003 00000000 00000000 0001 03 102 /srv/a b/store/daemon.sock
      0000000000000000: 00000002 00000000 00010000 0001 01 103 /srv/c/daemon.sock
      0000000000000000: 00000003 00000000 00000000 0001 03 104 /srv/d/daemon.sock
      0000000000000000: 00000002 00000000 00010000 0001 01 105 /run/other.sock
      0000000000000000: 00000002 00000000 00010000 0001 01 106 @abstract/daemon.sock
      0000000000000000: 00000002 00000000 00010000 0001 01 107
      """
    #expect(RunningDaemon.storePaths(in: table) == ["/srv/a b/store", "/srv/c"])
    #expect(RunningDaemon.storePaths(in: "").isEmpty)
  }
}
