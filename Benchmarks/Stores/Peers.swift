import Foundation

/// What the measurements compare with and that comes from elsewhere: scripts of this folder, and Debian packages that
/// `.ci/test-tools` has unpacked. What is not there is left out by name.
struct Peers {
  /// Where `Peers` of the sources is.
  let scripts: String
  /// Where `.ci/test-tools` unpacks.
  let tools: String

  private static let python = "/usr/bin/python3"

  /// What goes before the script's own arguments to import paho from.
  var paho: String {
    let place = "\(tools)/python3-paho-mqtt/usr/lib/python3/dist-packages"
    return FileManager.default.fileExists(atPath: place) ? place : ""
  }

  /// The library: unpacked, or one that the loader finds.
  var sqlcipher: String {
    let directory = "\(tools)/libsqlcipher0/usr/lib"
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
    guard let name = names.sorted().first(where: { $0.hasSuffix("/libsqlcipher.so.0") }) else {
      return "libsqlcipher.so.0"
    }
    return URL(fileURLWithPath: "\(directory)/\(name)").path
  }

  /// What runs a program under callgrind; nil: there is no valgrind.
  var valgrind: (command: [String], control: String)? {
    func isThere(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }
    let place = URL(fileURLWithPath: "\(tools)/valgrind/usr").path
    if isThere("/usr/bin/valgrind"), isThere("/usr/bin/vgdb") { return (["/usr/bin/valgrind"], "/usr/bin/vgdb") }
    guard isThere("\(place)/bin/valgrind.bin") else { return nil }
    return (
      ["/usr/bin/env", "VALGRIND_LIB=\(place)/libexec/valgrind", "\(place)/bin/valgrind.bin"], "\(place)/bin/vgdb"
    )
  }

  /// From binutils, or from the compiler; nil: there is none.
  var objcopy: String? {
    ["/usr/bin/objcopy", "/usr/bin/llvm-objcopy"].first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  func start(_ script: String, _ arguments: [String], takesInput: Bool = false) throws -> ChildProcess {
    try ChildProcess(Self.python, ["\(scripts)/\(script)"] + arguments, reading: .output, takesInput: takesInput)
  }
}
