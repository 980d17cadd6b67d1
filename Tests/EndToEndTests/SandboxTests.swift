import Foundation
import TestKit
import Testing
import ThreadNetwork

@Suite("Tests stay away from the machine that they run on", .timeLimit(.minutes(30))) struct SandboxTests {
  @Test("A command that names no store finds none of the machine's, and cannot make one") func commands() async throws {
    let root = try #require(TestSandbox.environment["THREADKEEPER_SYSTEM_ROOT"])
    let home = try #require(TestSandbox.environment["HOME"])
    let status = try await ThreadkeeperBinary.run("status")
    #expect(status.status == 69)
    #expect(status.error.contains(root) || status.error.contains(home), "\(status.error)")
    #expect(try await ThreadkeeperBinary.run("run").status != 0)
  }

  @Test("A client that names no store reaches no daemon, and stores nothing") func client() async throws {
    let client = THClient()
    #expect(try await client.allCredentials().isEmpty)
    let dataset = Data(try SampleNetwork.home.dataset(at: 1).bytes)
    await #expect(throws: THError.self) {
      try await client.storeCredentials(forBorderAgent: Data(count: 8), activeOperationalDataSet: dataset)
    }
  }

  @Test("A path that must not be there lies below a file: a machine may have any `/nonexistent`") func paths() throws {
    let tests = ProjectFiles.root.appendingPathComponent("Tests").path
    let files = try FileManager.default.subpathsOfDirectory(atPath: tests)
    for file in files where file.hasSuffix(".swift") {
      let text = try String(contentsOfFile: "\(tests)/\(file)", encoding: .utf8)
      #expect(text.firstMatch(of: #/"\/(nonexistent|nowhere)\b/#) == nil, "\(file)")
    }
  }

  @Test("The suite fails when a place that it watches comes into being, and only then") func guarded() async throws {
    let directory = try TemporaryDirectory()
    let place = directory.file("place")
    await #expect(processExitsWith: .success) { [place = place as String] in
      TestSandbox.watch(place)
      exit(0)
    }
    await #expect(processExitsWith: .failure) { [place = place as String] in
      TestSandbox.watch(place)
      precondition(mkdir(place, 0o700) == 0)
      exit(0)
    }
    #expect(FileManager.default.fileExists(atPath: place))
    await #expect(processExitsWith: .success) { [place = place as String] in
      TestSandbox.watch(place)
      exit(0)
    }
  }
}
