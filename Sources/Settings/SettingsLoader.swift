import Glibc
import ThreadkeeperSupport

/// Loads the settings: defaults, then the file, then the variables.
package enum SettingsLoader {
  /// Reads everything once and reports every problem in the same pass.
  ///
  /// - Parameters:
  ///   - file: the configuration file; nil to search for one, see `search`.
  ///   - environment: the process's variables.
  ///   - stateDirectory: where state lies that no key names a place for; nil for the rule of
  ///     `StateDirectory`.
  ///   - otherVariables: names that begin with `THREADKEEPER_` and are read by somebody else.
  ///   - skipsRefusedSecrets: whether a key whose secret this user may not read counts as not given.
  ///   - systemFile: the last place of the search; nil for that of `SystemPlaces`.
  ///   - workingDirectory: what paths on the command line and in variables are relative to.
  ///   - isRoot: whether the process runs as root.
  package static func load(
    file: String?, environment: [String: String], stateDirectory: String? = nil, otherVariables: Set<String> = [],
    skipsRefusedSecrets: Bool = false, systemFile: String? = nil, workingDirectory: String = currentDirectory(),
    isRoot: Bool = geteuid() == 0
  ) -> SettingsResult {
    let found = search(
      file: file, environment: environment,
      systemFile: systemFile ?? SystemPlaces(environment: environment).configuration, workingDirectory: workingDirectory
    )
    var reader = SettingsReader(
      environment: environment, directory: found.map { FilePath.directory(of: $0.path) } ?? workingDirectory,
      workingDirectory: workingDirectory, skipsRefusedSecrets: skipsRefusedSecrets)
    reader.readVariables(others: otherVariables)
    if let found { read(found, into: &reader) }
    return result(&reader, file: found?.path, stateDirectory: stateDirectory, isRoot: isRoot)
  }

  /// The same of a text that is to become the configuration file at an absolute path. That file is not read, and need
  /// not be there.
  package static func load(
    text: String, as path: String, environment: [String: String], stateDirectory: String? = nil,
    workingDirectory: String = currentDirectory(), isRoot: Bool = geteuid() == 0
  ) -> SettingsResult {
    var reader = SettingsReader(
      environment: environment, directory: FilePath.directory(of: path), workingDirectory: workingDirectory)
    reader.readVariables()
    reader.read(text, of: path)
    return result(&reader, file: path, stateDirectory: stateDirectory, isRoot: isRoot)
  }

  /// The configuration file that `load` reads: its absolute path; nil where there is none. One that is named need not be
  /// there.
  package static func file(
    named file: String?, environment: [String: String], workingDirectory: String = currentDirectory()
  ) -> String? {
    search(
      file: file, environment: environment, systemFile: SystemPlaces(environment: environment).configuration,
      workingDirectory: workingDirectory)?.path
  }

  private static func result(_ reader: inout SettingsReader, file: String?, stateDirectory: String?, isRoot: Bool)
    -> SettingsResult
  {
    let state = StateDirectory.path(
      given: stateDirectory, environment: reader.environment, workingDirectory: reader.workingDirectory, isRoot: isRoot)
    if state == nil {
      reader.report(nil, at: .defaults, "no place for the state: $HOME is not set; set THREADKEEPER_STATE_DIRECTORY")
    }
    let settings = reader.settings(stateDirectory: state ?? reader.workingDirectory)
    let isUsable = !reader.problems.contains { $0.severity == .error }
    return SettingsResult(
      settings: isUsable ? settings : nil, problems: reader.problems.sorted { $0.rank < $1.rank }, file: file,
      isRefused: reader.isRefused)
  }

  private static func read(_ found: FoundFile, into reader: inout SettingsReader) {
    do throws(FileFailure) {
      let file = try TextFile(found.path)
      reader.isFileReadableByOthers = file.isReadableByOthers
      reader.read(file.text, of: found.shown)
    } catch {
      if error.isRefusal { reader.isRefused = true }
      reader.report(nil, at: .file(found.shown, error.position), "the configuration \(error.reason)")
    }
  }

  package static func currentDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }

  /// A configuration file: its absolute path, and the name that problems show.
  private typealias FoundFile = (path: String, shown: String)

  /// The file that is meant, in this order:
  ///
  /// 1. the one given on the command line,
  /// 2. `$THREADKEEPER_CONFIG`,
  /// 3. `$XDG_CONFIG_HOME/threadkeeper/threadkeeper.yaml`, without that variable below `~/.config`,
  /// 4. `/etc/threadkeeper/threadkeeper.yaml`.
  ///
  /// The first two must be there. Of the others the first that is there counts; without any,
  /// defaults hold. The working directory is not searched: a service must not change with the
  /// place it is started from.
  private static func search(file: String?, environment: [String: String], systemFile: String, workingDirectory: String)
    -> FoundFile?
  {
    let home = environment["HOME"]
    let named = environment["THREADKEEPER_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    if let file = file ?? named {
      let path = FilePath.absolute(file, in: workingDirectory, home: home) ?? file
      return (path, file)
    }
    let configuration = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let own = FilePath.absolute((configuration ?? "~/.config") + "/threadkeeper/threadkeeper.yaml", in: "/", home: home)
    for path in [own, systemFile] {
      // One that is there and can't be read is an error of its own, not a reason to go on.
      if let path, access(path, F_OK) == 0 || errno == EACCES { return (path, path) }
    }
    return nil
  }
}

/// A small text file, read whole.
struct TextFile {
  /// A configuration of ten thousand users is some 200 KiB; more is a mistake in the path.
  private static let largest = 1 << 20
  /// What to say of a secret that every user of the machine may read.
  static let openToOthers = "may be read by every user of this machine; chmod o-rwx takes the right away"

  let text: String
  /// Whether every user of the machine may read it.
  let isReadableByOthers: Bool

  /// - Parameter isRead: whether its text is needed; otherwise it is only opened.
  init(_ path: String, isRead: Bool = true) throws(FileFailure) {
    // A pipe without a writer must not hold up the start: hence non-blocking.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileFailure(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileFailure(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw FileFailure(reason: "is not a file") }
    isReadableByOthers = status.st_mode & S_IROTH != 0
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while isRead {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFailure(errno) }
      if count == 0 { break }
      bytes += chunk[..<count]
      guard bytes.count <= Self.largest else { throw FileFailure(reason: "is larger than \(Self.largest / 1024) KiB") }
    }
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
      if scalar.first == UInt8(ascii: "\n") { position = TextPosition(line: position.line + 1, column: 1) }
    }
    return position
  }
}

/// Why a file could not be read.
struct FileFailure: Error {
  /// In words that follow its name.
  let reason: String
  /// The place inside the file, when the reason has one.
  var position: TextPosition?
  /// Whether the system knows the file and denies it to this user.
  var isRefusal = false
}

extension FileFailure {
  /// - Parameter code: the system's `errno`.
  init(_ code: Int32) {
    reason = "cannot be read: \(String(cString: strerror(code)))"
    isRefusal = code == EACCES
  }
}
