import Foundation
import TestKit

/// A library of `Doubles` to be preloaded into programs. Needs a C compiler.
struct PreloadedLibrary: Sendable {
  private let directory: TemporaryDirectory
  let path: String

  /// - Returns: nil where it cannot be compiled.
  init?(_ name: String) {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../../Doubles/\(name).c"
    ).standardized.path
    guard let directory = try? TemporaryDirectory() else { return nil }
    self.directory = directory
    path = directory.file("\(name).so")
    let arguments = ["-shared", "-fPIC", "-o", path, source, "-ldl"]
    let isMade = ["cc", "clang", "gcc"].contains { compiler in (try? Program.run(compiler, arguments))?.status == 0 }
    if !isMade { return nil }
  }
}

/// A disk under a daemon's store that fails on demand: `Doubles/failing_files.c`, preloaded into the
/// daemon and the commands. Needs neither root nor a file system of its own.
final class FailingFiles: Sendable {
  enum Fault: String, CaseIterable, Sendable {
    /// Every read fails.
    case reads
    /// Every write and sync fails.
    case writes
    /// The file system has become read-only.
    case readOnly = "readonly"
  }

  private static let library = PreloadedLibrary("failing_files")

  static var isPossible: Bool { library != nil }

  private let directory: TemporaryDirectory
  /// Where the store is to lie.
  let storePath: String
  /// What the daemon and the commands need in their environment.
  let variables: [String: String]

  init() throws {
    directory = try TemporaryDirectory()
    storePath = directory.file("disk/store")
    try FileManager.default.createDirectory(
      atPath: directory.file("disk"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // As the kernel has it.
    let disk = URL(fileURLWithPath: directory.file("disk")).resolvingSymlinksInPath().path
    variables = [
      "LD_PRELOAD": Self.library?.path ?? "", "FAILING_FILES": disk, "FAILING_SWITCH": directory.file("fault"),
    ]
  }

  func begin(_ fault: Fault) throws {
    try Data().write(to: URL(fileURLWithPath: directory.file("fault.\(fault.rawValue)")))
  }

  func end(_ fault: Fault) throws {
    try FileManager.default.removeItem(atPath: directory.file("fault.\(fault.rawValue)"))
  }
}

/// A small file system in memory, in a mount namespace of its own: only who is started through
/// `launcher` sees it, and it goes with this object. Works without root where the kernel lets users
/// have namespaces.
final class PrivateMount: Sendable {
  /// Where the file system is.
  let path: String
  private let holder: ChildProcess
  private let input: PrivatePipe
  private let enter: [String]

  /// Whether this machine can do it.
  static let isPossible = (try? PrivateMount(at: "/mnt", megabytes: 1)) != nil

  struct Impossible: Error {}

  convenience init(in directory: TemporaryDirectory, megabytes: Int) throws {
    let path = directory.file("disk")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try self.init(at: path, megabytes: megabytes)
  }

  private init(at path: String, megabytes: Int) throws {
    self.path = path
    for user in [["--user", "--map-root-user"], []] {
      let input = try PrivatePipe()
      let output = try PrivatePipe()
      let script = "mount -t tmpfs -o size=\(megabytes)m,mode=700 tmpfs '\(path)' && echo ready && exec cat"
      let holder = try ChildProcess(
        "/usr/bin/env", ["unshare"] + user + ["--mount", "sh", "-c", script],
        streams: (.descriptor(input.reading), .descriptor(output.writing), .nothing))
      output.closeWriting()
      var answer = [UInt8](repeating: 0, count: 16)
      let count = read(output.reading, &answer, answer.count)
      if answer.prefix(max(0, count)) == Array("ready\n".utf8)[...] {
        self.holder = holder
        self.input = input
        enter =
          ["/usr/bin/nsenter", "--target", "\(holder.identifier)", "--mount"]
          + (user.isEmpty ? [] : ["--user", "--preserve-credentials"])
        return
      }
      holder.signal(SIGKILL)
      holder.wait()
    }
    throw Impossible()
  }

  deinit {
    holder.signal(SIGTERM)
    holder.wait()
  }

  /// What must be put before a command to run it where the file system is.
  var launcher: [String] { enter }

  /// Runs a shell script there; throws when it fails.
  @discardableResult func run(_ script: String) throws -> String {
    try Program.check(enter[0], Array(enter.dropFirst()) + ["sh", "-c", script])
  }

  /// Takes all of its free space.
  func fill() throws {
    _ = try run("dd if=/dev/zero of='\(path)/filling' bs=64k 2>/dev/null; true")
    _ = try run("dd if=/dev/zero of='\(path)/filling.rest' bs=512 2>/dev/null; true")
  }

  func empty() throws { _ = try run("rm -f '\(path)'/filling*") }
}
