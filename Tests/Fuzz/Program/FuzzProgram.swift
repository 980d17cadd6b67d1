import Foundation
import FuzzTargets

/// libFuzzer for one target: `make fuzz` builds and runs it, see `.ci/fuzz`. Its own `main` starts it, because SwiftPM
/// names the main function of a program itself.
///
///     threadkeeper-fuzz TARGET [libFuzzer's options and files]   one of `FuzzTarget`
///     threadkeeper-fuzz seeds SEEDS WORK                         writes the seeds below WORK, as libFuzzer reads them
///     threadkeeper-fuzz targets                                  lists them
@main enum FuzzProgram {
  nonisolated(unsafe) private static var target = FuzzTarget.dataset

  static func main() throws {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "targets": print(FuzzTarget.allCases.map(\.rawValue).joined(separator: "\n"))
    case "seeds" where arguments.count == 4: try writeSeeds(of: arguments[2], below: arguments[3])
    case let name?:
      guard let named = FuzzTarget(rawValue: name) else { fallthrough }
      target = named
      exit(fuzz())
    case nil:
      FileHandle.standardError.write(Data("usage: threadkeeper-fuzz TARGET [OPTION …]\n".utf8))
      exit(64)
    }
  }

  /// With the arguments after the target's name.
  private static func fuzz() -> CInt {
    let arguments = CommandLine.unsafeArgv
    arguments[1] = arguments[0]
    var rest = arguments + 1
    var count = CommandLine.argc - 1
    return runDriver(&count, &rest) { data, size in
      FuzzProgram.run(Array(UnsafeBufferPointer(start: data, count: size)))
      return 0
    }
  }

  private static func run(_ bytes: [UInt8]) {
    do { try target.check(bytes) } catch {
      FileHandle.standardError.write(Data("\(target.rawValue): \(error)\n".utf8))
      // libFuzzer writes the input to a file then.
      abort()
    }
  }

  private static func writeSeeds(of corpus: String, below work: String) throws {
    for target in FuzzTarget.allCases {
      let folder = "\(work)/\(target.rawValue)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for seed in try Seeds.read(of: target, in: corpus) {
        try Data(seed.bytes).write(to: URL(fileURLWithPath: "\(folder)/seed-\(seed.name)"))
      }
    }
  }
}
