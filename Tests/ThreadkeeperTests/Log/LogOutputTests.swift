import Dispatch
import Foundation
import Logging
import Testing

@testable import Threadkeeper

struct LogOutputTests {
  @Test("Lines of many threads never mix, even when they are longer than a pipe takes at once") func wholeLines() throws
  {
    let pipe = Pipe()
    let reading = pipe.fileHandleForReading.fileDescriptor
    let output = LogOutput(descriptor: pipe.fileHandleForWriting.fileDescriptor)
    let threads = 4
    let linesEach = 100
    // Threads of their own: they block, and an executor has few.
    for number in 0..<threads {
      Thread {
        let byte = UInt8(ascii: "a") + UInt8(number)
        let line = String(repeating: Character(Unicode.Scalar(byte)), count: 9_999)
        for _ in 0..<linesEach { output.write(line) }
      }.start()
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < threads * linesEach * 10_000 {
      var ready = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
      try #require(poll(&ready, 1, 60_000) == 1, "\(bytes.count) bytes came")
      bytes += chunk[..<max(0, read(reading, &chunk, chunk.count))]
    }
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    #expect(lines.count == threads * linesEach)
    #expect(lines.allSatisfy { $0.count == 9_999 && Set($0).count == 1 })
    withExtendedLifetime(pipe) {}
  }

  @Test("A reader that takes nothing holds up the log for a second, and not for ever") func stuckReader() throws {
    let pipe = Pipe()
    let writing = pipe.fileHandleForWriting.fileDescriptor
    try #require(fcntl(writing, F_SETFL, O_NONBLOCK) == 0)
    LogOutput(descriptor: writing).write(String(repeating: "x", count: 1 << 20))
    withExtendedLifetime(pipe) {}
  }

  @Test("A closed output loses the line and nothing else") func closedOutput() {
    LogOutput(descriptor: -1).write("gone")
  }

  @Test("A terminal gets colour unless NO_COLOR or TERM=dumb says otherwise") func terminalColor() throws {
    let primary = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    try #require(primary >= 0)
    defer { close(primary) }
    var unlock: Int32 = 0
    var number: Int32 = 0
    try #require(ioctl(primary, UInt(0x4004_5431), &unlock) == 0)  // TIOCSPTLCK
    try #require(ioctl(primary, UInt(0x8004_5430), &number) == 0)  // TIOCGPTN
    let secondary = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    try #require(secondary >= 0)
    defer { close(secondary) }
    let style = TerminalStyle(descriptor: secondary, noColor: nil, terminal: "xterm")
    #expect(style.isOn)
    let colorful = LogOutput(descriptor: secondary, style: style)
    Logger(label: "x") { _ in TextLogHandler(output: colorful) }.error("broken")
    var chunk = [UInt8](repeating: 0, count: 4_096)
    let count = read(primary, &chunk, chunk.count)
    let line = String(decoding: chunk[..<max(0, count)], as: UTF8.self)
    #expect(line.contains("\u{1B}[31merror\u{1B}[0m    broken"))
    func allowsColor(noColor: String?, terminal: String?) -> Bool {
      TerminalStyle(descriptor: secondary, noColor: noColor, terminal: terminal).isOn
    }
    #expect(allowsColor(noColor: "", terminal: "xterm"))
    #expect(!allowsColor(noColor: "1", terminal: "xterm"))
    #expect(!allowsColor(noColor: nil, terminal: "dumb"))
    #expect(!allowsColor(noColor: nil, terminal: nil))
  }
}

/// A log output whose lines can be read back: a file without a name.
final class CapturedOutput: Sendable {
  let output: LogOutput
  private let descriptor: Int32

  init() throws {
    var template = Array((NSTemporaryDirectory() + "/telemetry-XXXXXX").utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0, "no temporary file")
    unlink(template)
    self.descriptor = descriptor
    output = LogOutput(descriptor: descriptor)
  }

  deinit { close(descriptor) }

  var text: String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = pread(descriptor, &chunk, chunk.count, off_t(bytes.count))
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  /// The lines as a reader would count them: every line feed ends one.
  var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }
}
