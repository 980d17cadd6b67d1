import Bridge
import Broker
import DaemonTestKit
import Foundation
import KeychainCore
import Settings
import TestKit
import Testing
import ThreadkeeperSupport

@testable import Threadkeeper

@Suite("The name of the MQTT sessions") struct SessionNameTests {
  private func name(_ store: TemporaryStore, machine: String = "a1") throws -> String {
    try SessionName.make(MovedStore.settings(store), store.keychain, machine: machine)
  }

  @Test("It is the same after a restart and after a rotation, and does not hold the store's id") func lasting() throws {
    let store = try TemporaryStore()
    let first = try name(store)
    #expect(first.count == "threadkeeper-".count + 32)
    #expect(!first.contains(store.keychain.storeID.description))
    try store.reopen()
    #expect(try name(store) == first)
    try store.keychain.rotateKeys([store.keyFile])
    #expect(try name(store) == first)
    try store.reopen()
    #expect(try name(store) == first)
  }

  @Test("It differs from machine to machine, and from store to store") func different() throws {
    let store = try TemporaryStore()
    let another = try TemporaryStore()
    let names = [try name(store), try name(store, machine: "b2"), try name(store, machine: ""), try name(another)]
    #expect(Set(names).count == names.count)
  }

  @Test("A client id of the settings is used as it is") func chosen() throws {
    let store = try TemporaryStore()
    var settings = MovedStore.settings(store)
    settings.mqtt.clientID = SecretText("hall")
    #expect(try SessionName.make(settings, store.keychain) == "hall")
  }
}

@Suite("The program's code") struct ProgramCodeTests {
  @Test("Is what is executable and as it is in a file: no data, no written page, nothing of the kernel") func segments()
  {
    func mapping(_ line: String, anonymous: Int = 0) -> String {
      "\(line)\nSize: 8 kB\nRss: 8 kB\nAnonymous:             \(anonymous) kB\nVmFlags: rd ex mr mw me\n"
    }
    let maps = [
      mapping("55f0a0000000-55f0a0001000 r--p 00000000 fd:00 1234   /usr/bin/threadkeeper"),
      mapping("55f0a0001000-55f0a0003000 r-xp 00001000 fd:00 1234   /usr/bin/threadkeeper"),
      mapping("55f0a0003000-55f0a0004000 rw-p 00003000 fd:00 1234   /usr/bin/threadkeeper"),
      mapping("55f0a0005000-55f0a0006000 rwxp 00003000 fd:00 1234   /usr/bin/threadkeeper"),
      mapping("7f0000000000-7f0000001000 r-xp 00000000 00:00 0"),
      mapping("7f0000002000-7f0000004000 r-xp 00001000 fd:00 99     /opt/with space/lib.so (deleted)"),
      mapping("7f0000005000-7f0000006000 r-xp 00001000 fd:00 98     /opt/patched.so", anonymous: 4),
      mapping("7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0      [vdso]"),
      mapping("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]"),
    ].joined()
    #expect(
      ProgramCode.segments(in: maps) == [0x55f0_a000_1000..<0x55f0_a000_3000, 0x7f00_0000_2000..<0x7f00_0000_4000])
  }

  @Test(
    "What is no line of the kernel's table is left out",
    arguments: ["", "x", "Anonymous: 0 kB", "1-2 r-xp 0 0 0 /a", "2-1 r-xp 0 0 0 /a\nAnonymous: 0 kB"]) func otherLines(
      _ text: String
    )
  { #expect(ProgramCode.segments(in: text).isEmpty) }

  @Test("The kernel's table is read to its end, and a file that is not there has no text") func wholeTable() throws {
    let table = try #require(KernelFile.text("/proc/self/smaps"))
    #expect(table.utf8.count > 64 << 10)
    #expect(table.contains("[stack]"))
    #expect(KernelFile.text("/proc/self/none") == nil)
  }

  @Test("Leaves the memory when it is unmapped, and runs on") func unmap() async {
    // A process of its own, in which no other test runs.
    await #expect(processExitsWith: .success) {
      let before = try ProgramCodeTests.residentCode()
      #expect(try ProgramCode.unmap() > 0)
      let after = try ProgramCodeTests.residentCode()
      #expect(after < before)
    }
  }

  /// KiB of what is executable and of a file, from proc_pid_smaps(5).
  private static func residentCode() throws -> Int {
    let maps = try #require(KernelFile.text("/proc/self/smaps"))
    var isCode = false
    var sum = 0
    for line in maps.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words[0] == "Rss:", isCode {
        sum += try #require(Int(words[1]))
      } else if words[0].last != ":" {
        isCode = words.count >= 6 && words[1] == "r-xp" && words[5].hasPrefix("/")
      }
    }
    return sum
  }
}
