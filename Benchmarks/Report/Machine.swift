import CBareDatabase
import CLibMosquitto
import CLibSodium
import Foundation

/// What the figures were measured on, and how busy it was.
struct Machine: Encodable {
  let processors: Int
  let model: String
  /// Gigabytes.
  let memory: Double
  let system: String
  let kernel: String
  /// Of the stores' disk.
  let fileSystem: String

  init(storesIn directory: String) {
    processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    model = Self.value(of: "model name", in: "/proc/cpuinfo", after: ":") ?? "unknown"
    memory = Double(ProcessInfo.processInfo.physicalMemory) / 1e9
    system = Self.value(of: "PRETTY_NAME", in: "/etc/os-release", after: "=") ?? "unknown"
    kernel = Self.read("/proc/sys/kernel/osrelease")?.trimmed ?? "unknown"
    fileSystem = Self.fileSystem(of: directory)
  }

  /// Runnable threads on average over the last minute.
  static var load: Double { Double((read("/proc/loadavg") ?? "").split(separator: " ").first ?? "") ?? 0 }

  /// A file of `/proc`, which has no size to go by.
  static func read(_ path: String) -> String? {
    guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
    return (try? handle.readToEnd()).flatMap { String(decoding: $0, as: UTF8.self) }
  }

  private static func value(of key: String, in path: String, after mark: Character) -> String? {
    let line = (read(path) ?? "").split(separator: "\n").first { $0.hasPrefix(key) }
    return line?.split(separator: mark, maxSplits: 1).last?.trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
  }

  /// The kind of the mount with the longest path that the directory is below.
  private static func fileSystem(of directory: String) -> String {
    let path = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path
    var found = (place: "", kind: "unknown")
    for line in (read("/proc/self/mounts") ?? "").split(separator: "\n") {
      let fields: [String] = line.split(separator: " ").map(String.init)
      guard fields.count > 2, fields[1].count >= found.place.count else { continue }
      let isAbove = fields[1] == "/" || path == fields[1] || path.hasPrefix(fields[1] + "/")
      if isAbove { found = (fields[1], fields[2]) }
    }
    return found.kind
  }
}

/// What is measured, and what it is made of.
struct Versions: Encodable {
  let threadkeeper: String
  let swift: String
  let mosquitto: String
  let libmosquitto: String
  let sqlite: String
  let libsodium: String

  init(daemon: String, swift: String) {
    threadkeeper = Self.firstLine(of: daemon, ["--version"], reading: .output)
    self.swift = swift
    mosquitto = Self.firstLine(of: "/usr/sbin/mosquitto", ["-h"], reading: .output).replacing(
      "mosquitto version ", with: "")
    var (major, minor, revision): (Int32, Int32, Int32) = (0, 0, 0)
    mosquitto_lib_version(&major, &minor, &revision)
    libmosquitto = "\(major).\(minor).\(revision)"
    sqlite = String(cString: bare_database_system_version())
    libsodium = String(cString: sodium_version_string())
  }

  private static func firstLine(of program: String, _ arguments: [String], reading stream: ChildProcess.Stream)
    -> String
  {
    let line = try? ChildProcess(program, arguments, reading: stream).nextLine(within: 10)
    return line?.text.trimmed ?? "unknown"
  }
}

extension String { var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) } }
