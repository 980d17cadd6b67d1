import Broker
import Glibc
import Home
import Logging
import Synchronization
import ThreadkeeperSupport
import Wire

/// Where log lines go: a file descriptor, on which the lines of two threads never mix. It is not closed: it belongs to
/// whoever opened it.
final class LogOutput: Sendable {
  static let standardError = LogOutput(descriptor: STDERR_FILENO)

  /// On a terminal that wants colour.
  let style: TerminalStyle
  private let descriptor: Int32
  private let turn = Mutex(())

  init(descriptor: Int32, style: TerminalStyle? = nil) {
    self.descriptor = descriptor
    self.style = style ?? TerminalStyle(descriptor: descriptor)
  }

  /// Writes one line, without its end. Gives up on an error, and on a reader who takes nothing for a second: a log must
  /// not stop the service.
  func write(_ line: String) {
    turn.withLock { _ in try? StandardStream.write(line + "\n", to: descriptor, waiting: 1_000) }
  }
}

/// One line for each event, for people to read:
///
///     2026-11-21T04:36:00.123Z warning  router is on another network  router=a1b2 name="Living room"
struct TextLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  var logLevel: Logger.Level
  private let output: LogOutput

  /// - Parameter level: what is less severe is not written.
  init(level: Logger.Level = .info, output: LogOutput = .standardError) {
    logLevel = level
    self.output = output
  }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let fields = event.fields(logger: metadata, provider: metadataProvider).map { key, value in
      "\(Self.word(key))=\(Self.word(value.description))"
    }
    let level = event.level.rawValue
    // Messages begin in one column.
    let gap = String(repeating: " ", count: max(1, 9 - level.count))
    output.write(
      "\(LogEvent.now()) \(output.style.styled(Self.color(of: event.level), level))\(gap)"
        + event.message.description.shortened.printable + (fields.isEmpty ? "" : "  " + fields.joined(separator: " ")))
  }

  /// A word of its own: quoted as soon as it could be taken for more than one.
  private static func word(_ text: String) -> String {
    let shown = text.shortened.printable
    let isPlain = !shown.isEmpty && !shown.utf8.contains { " =\"\\".utf8.contains($0) }
    guard !isPlain else { return shown }
    let escaped = shown.utf8.flatMap { "\"\\".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    return "\"\(String(decoding: escaped, as: UTF8.self))\""
  }

  /// Parameters of the terminal's "select graphic rendition" (ECMA-48, 8.3.117).
  private static func color(of level: Logger.Level) -> String {
    switch level {
    case .trace, .debug: "2"
    case .info: "32"
    case .notice: "36"
    case .warning: "33"
    case .error: "31"
    case .critical: "1;31"
    }
  }
}

/// One JSON object a line, for machines to read:
///
///     {"label":"bridge","level":"info","message":"…","router":"a1b2","time":"2026-11-21T04:36:00.123Z"}
///
/// Metadata stand beside the message. A key that the line itself uses, or that begins with `metadata.`, gets `metadata.`
/// before it, so no two fields ever share a name. Whole numbers and truth values stay what they are; everything else is
/// text.
struct JSONLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  var logLevel: Logger.Level
  private let label: String
  private let output: LogOutput

  /// - Parameter level: what is less severe is not written.
  init(label: String, level: Logger.Level = .info, output: LogOutput = .standardError) {
    self.label = label
    logLevel = level
    self.output = output
  }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var line: [String: Value] = [
      "time": Value("\(LogEvent.now())"), "level": Value("\(event.level)"), "label": Value("\(label)"),
      "message": Value("\(event.message)"),
    ]
    for (key, value) in event.fields(logger: metadata, provider: metadataProvider) {
      let isTaken = ["time", "level", "label", "message"].contains(key) || key.hasPrefix("metadata.")
      line[isTaken ? "metadata.\(key)" : key] = Value(value)
    }
    var text = ""
    var json = JSONWriter()
    line.write(to: &json)
    for scalar in String(decoding: json.bytes, as: UTF8.self).unicodeScalars {
      if scalar.isTreacherous {
        for unit in String(scalar).utf16 { text += "\\u" + String(0x1_0000 + Int(unit), radix: 16).dropFirst() }
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    output.write(text)
  }

  private struct Value: WireValue {
    let value: Logger.MetadataValue

    init(_ value: Logger.MetadataValue) { self.value = value }

    func write(to json: inout JSONWriter) {
      switch value {
      case .string(let text): json.text(text.shortened)
      case .stringConvertible(let truth as Bool): truth.write(to: &json)
      case .stringConvertible(let number as any FixedWidthInteger): json.escaped("\(number)")
      case .stringConvertible(let other): json.text(other.description.shortened)
      case .array(let values): values.map(Value.init).write(to: &json)
      case .dictionary(let fields): fields.mapValues(Value.init).write(to: &json)
      }
    }
  }
}

extension LogEvent {
  /// In UTC, with milliseconds: `2026-11-21T04:36:00.123Z`.
  fileprivate static func now() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let second = WireTime(milliseconds: Int64(time.tv_sec) * 1_000).description.dropLast()
    return "\(second).\(String(1_000 + time.tv_nsec / 1_000_000).dropFirst())Z"
  }

  /// What is said beside the message, in the order of the keys: the logger's own, what the task provides, and the
  /// event's, the later winning. An error comes as `error`.
  fileprivate func fields(logger: Logger.Metadata, provider: Logger.MetadataProvider?) -> [(
    key: String, value: Logger.MetadataValue
  )] {
    var merged = logger.merging(provider?.get() ?? [:]) { $1 }
    if let error, merged["error"] == nil { merged["error"] = "\(error)" }
    return merged.merging(metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
  }
}

extension String {
  /// Bytes that a line has of one text: longer than any topic in use here, short enough that a flood of 64 KiB topics
  /// does not fill a disk.
  private static let longest = 4_096

  fileprivate var shortened: String {
    let more = utf8.count - Self.longest
    guard more > 0 else { return self }
    return String(decoding: utf8.prefix(Self.longest), as: UTF8.self) + "…(+\(more) bytes)"
  }
}
