import Foundation
import TestKit
import Testing

/// What a process has in its memory. For root: a daemon lets nobody else look.
enum ProcessMemory {
  struct Needle {
    let name: String
    let bytes: [UInt8]
  }

  struct Unreadable: Error {}

  /// A secret of 16 bytes as it would lie there.
  static func needles(_ name: String, _ secret: [UInt8]) -> [Needle] {
    let hex = secret.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return [
      Needle(name: name, bytes: secret), Needle(name: "\(name), hex", bytes: Array(hex.utf8)),
      // A number of this machine has its last byte first.
      Needle(name: "\(name), as a number", bytes: secret.reversed()),
      Needle(name: "\(name), upper-case hex", bytes: Array(hex.uppercased().utf8)),
    ]
  }

  /// memmem(3), which the module Glibc does not show.
  private static var find: @convention(c) (UnsafeRawPointer?, Int, UnsafeRawPointer?, Int) -> UnsafeRawPointer? {
    unsafeBitCast(
      dlsym(nil, "memmem"),
      to: (@convention(c) (UnsafeRawPointer?, Int, UnsafeRawPointer?, Int) -> UnsafeRawPointer?).self)
  }

  /// Where each thread stands on its stack.
  private static func stacks(of process: Int32) -> [(thread: String, pointer: Int)] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task"))
    return (threads ?? []).compactMap { thread in
      let place = "/proc/\(process)/task/\(thread)"
      guard let call = try? Program.check("cat", ["\(place)/syscall"]),
        let name = try? Program.check("cat", ["\(place)/comm"]),
        let pointer = call.split(separator: " ").dropLast().last.flatMap({ Int($0.dropFirst(2), radix: 16) })
      else { return nil }
      return (name.trimmingCharacters(in: .newlines), pointer)
    }
  }

  /// The names of what is found in all that is not as in a file, with the part of its memory.
  static func finds(of needles: [Needle], in process: Int32) throws -> Set<String> {
    let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { throw Unreadable() }
    defer { close(memory) }
    let (step, overlap) = (4 << 20, 64)
    let room = UnsafeMutableRawPointer.allocate(byteCount: step + overlap, alignment: 16)
    defer { room.deallocate() }
    let find = find
    var finds: Set<String> = []
    // Foundation reads no more than the first page of it.
    let maps = try Program.check("cat", ["/proc/\(process)/maps"])
    let stacks = stacks(of: process)
    for line in maps.split(separator: "\n") {
      let fields = line.split(separator: " ", maxSplits: 5)
      let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
      // Of files, what they hold was not written by it. What it has closed to itself is read, too.
      let isOfFile = fields.count > 5 && fields[5].hasPrefix("/") && !fields[1].contains("w")
      guard ends.count == 2, !isOfFile else { continue }
      for place in stride(from: ends[0], to: ends[1], by: step) {
        let count = pread(memory, room, min(step + overlap, ends[1] - place), place)
        // Most of a stack was never touched: it is all one value.
        guard count > 0, memcmp(room, room + 1, count - 1) != 0 else { continue }
        for needle in needles where find(room, count, needle.bytes, needle.bytes.count) != nil {
          let stack = stacks.first { ends[0] <= $0.pointer && $0.pointer < ends[1] }
          let owner = stack.map { "the stack of \($0.thread)" }
          finds.insert("\(needle.name) in \(fields.count > 5 ? String(fields[5]) : owner ?? "other memory")")
        }
      }
    }
    return finds
  }

  /// Waits until nothing of it is found there: what is on its way to the disk or the broker may be there for a moment.
  static func expectNone(of needles: [Needle], in process: Int32, after event: String) async throws {
    var finds: Set<String> = []
    do {
      try await eventually(within: .seconds(30), "rest") {
        finds = try Self.finds(of: needles, in: process)
        return finds.isEmpty
      }
    } catch is TimedOut { Issue.record("left in memory after \(event): \(finds.sorted().joined(separator: "; "))") }
  }
}
