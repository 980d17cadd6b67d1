// SPDX-License-Identifier: Apache-2.0

import StatePlaces
import YAMLReader

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension SettingsReader {
  /// The text given for a key; nil when there is none or it could not be read, which is reported.
  mutating func entry(of key: SettingsKey) -> SettingsEntry? {
    guard let source = sources[key] else { return nil }
    return entry(from: source, of: key.rawValue, isSecret: key.isSecret)
  }

  mutating func entry(from source: SettingsSource, of name: String, isSecret: Bool)
    -> SettingsEntry?
  {
    let place = source.place
    switch source.content {
    case .text(let text, let kind):
      if isSecret, isFileReadableByOthers, case .position = place {
        warn(
          name, at: place,
          "stands in a file that every user of this machine may read; "
            + "use `!secret NAME`, or take the right away with chmod o-r")
      }
      return SettingsEntry(
        text: text, kind: kind, place: place, isHidden: isSecret, directory: directory(for: place))
    case .secret(let file):
      guard isFileName(file, tag: "!secret", name, place) else { return nil }
      return entry(inFile: directory + "/" + file, of: name, place, isSecret: true)
    case .credential(let file):
      guard isFileName(file, tag: "!credential", name, place) else { return nil }
      guard let credentials = environment["CREDENTIALS_DIRECTORY"], !credentials.isEmpty else {
        report(
          name, at: place,
          "`!credential` needs $CREDENTIALS_DIRECTORY, which systemd sets for a unit with "
            + "LoadCredential=")
        return nil
      }
      return entry(inFile: credentials + "/" + file, of: name, place, isSecret: true)
    case .file(let path):
      let home = environment["HOME"]
      guard let path = FilePath.absolute(path, in: workingDirectory, home: home) else {
        report(
          name, at: place, "expected the path of a file, found one with a `~` that leads nowhere")
        return nil
      }
      return entry(inFile: path, of: name, place, isSecret: isSecret)
    }
  }

  /// What is written in the file is relative to it; what a shell passes, to where that stands.
  private func directory(for place: SettingsProblem.Place) -> String {
    if case .variable = place { workingDirectory } else { directory }
  }

  private mutating func isFileName(
    _ file: String, tag: String, _ name: String, _ place: SettingsProblem.Place
  ) -> Bool {
    if file.isEmpty || file == "." || file.contains("/") || file.contains("..")
      || file.contains("\0")
    {
      report(name, at: place, "`\(tag)` expects the plain name of a file, without `/` and `..`")
      return false
    }
    return true
  }

  /// The value that a file holds. It is not shown in any problem, whatever the key is: people
  /// name the wrong file.
  private mutating func entry(
    inFile path: String, of name: String, _ place: SettingsProblem.Place, isSecret: Bool
  ) -> SettingsEntry? {
    let shown = SettingsEntry.shown(path: path)
    do throws(FileFailure) {
      let file = try TextFile(reading: path)
      if isSecret, file.isReadableByOthers {
        warn(
          name, at: place,
          "\(shown) \(OpenFile.openToOthers)")
      }
      guard !file.value.isEmpty else {
        report(name, at: place, "\(shown) is empty")
        return nil
      }
      return SettingsEntry(
        text: file.value, kind: .untyped, place: place, isHidden: true,
        directory: directory(for: place))
    } catch {
      if error.isRefusal { isRefused = true }
      if error.isRefusal, skipsRefusedSecrets { return nil }
      report(name, at: place, "\(shown) \(error.reason)")
      return nil
    }
  }
}

/// A regular file, open for reading.
struct OpenFile: ~Copyable {
  let descriptor: Int32
  /// Whether every user of the machine may read it.
  let isReadableByOthers: Bool

  /// What to say of a secret that is.
  static let openToOthers =
    "may be read by every user of this machine; chmod o-rwx takes the right away"

  init(_ path: String) throws(FileFailure) {
    // A pipe without a writer must not hold up the start: hence non-blocking.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileFailure(errno) }
    var status = stat()
    let failure: FileFailure? =
      if fstat(descriptor, &status) != 0 {
        FileFailure(errno)
      } else if status.st_mode & S_IFMT != S_IFREG {
        FileFailure(reason: "is not a file")
      } else {
        nil
      }
    if let failure {
      close(descriptor)
      throw failure
    }
    self.descriptor = descriptor
    isReadableByOthers = status.st_mode & S_IROTH != 0
  }

  deinit {
    close(descriptor)
  }

  /// The whole content; refused past the limit, in bytes.
  func content(upTo limit: Int) throws(FileFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= limit {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFailure(errno) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
    throw FileFailure(reason: "is larger than \(limit / 1024) KiB")
  }
}

/// A small text file, read whole.
struct TextFile {
  /// A configuration of ten thousand users is some 200 KiB; more is a mistake in the path.
  static let largest = 1 << 20

  let text: String
  /// Whether every user of the machine may read it.
  let isReadableByOthers: Bool

  init(reading path: String) throws(FileFailure) {
    let file = try OpenFile(path)
    isReadableByOthers = file.isReadableByOthers
    let bytes = try file.content(upTo: Self.largest)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FileFailure(reason: "is not UTF-8 text", position: Self.endOfText(in: bytes))
    }
    self.text = text
  }

  /// The text without the one line end that editors put after it.
  var value: String {
    var value = text.unicodeScalars[...]
    if value.last == "\n" {
      value.removeLast()
      if value.last == "\r" { value.removeLast() }
    }
    return String(value)
  }

  /// Where bytes cease to be UTF-8.
  private static func endOfText(in bytes: [UInt8]) -> TextPosition {
    var position = TextPosition(line: 1, column: 1)
    var parser = UTF8.ForwardParser()
    var source = bytes.makeIterator()
    while case .valid(let scalar) = parser.parseScalar(from: &source) {
      position.column += 1
      if scalar.first == UInt8(ascii: "\n") {
        position = TextPosition(line: position.line + 1, column: 1)
      }
    }
    return position
  }
}

/// Why a file could not be read, in words that follow its name.
struct FileFailure: Error {
  let reason: String
  /// The place inside the file, when the reason has one.
  let position: TextPosition?
  /// Whether the system knows the file and denies it to this user.
  let isRefusal: Bool

  init(reason: String, position: TextPosition? = nil) {
    self.reason = reason
    self.position = position
    isRefusal = false
  }

  /// - Parameter code: the system's `errno`.
  init(_ code: Int32) {
    reason = "cannot be read: \(String(cString: strerror(code)))"
    position = nil
    isRefusal = code == EACCES
  }
}
