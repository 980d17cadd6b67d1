import Foundation
import Security
import Synchronization
import TestKit
import Testing

extension OwnKeychain {
  @Suite struct ThreadTests {
    private let store = ProgramStore()
    /// More with SOAK_ROUNDS in the environment.
    private static let rounds = Soak.triesAll ? 40 : 8

    /// Runs `body` on so many threads at once, and returns what failed.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> String?) -> [String] {
      let failures = Mutex<[String]>([])
      let group = DispatchGroup()
      for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
          if let failure = body(number) { failures.withLock { $0.append(failure) } }
          group.leave()
        }
      }
      group.wait()
      return failures.withLock { $0 }
    }

    @Test func eightThreadsWithItemsOfTheirOwnDoNotDisturbEachOther() {
      let failures = onThreads(8) { number in
        for round in 0..<Self.rounds {
          let name = "thread \(number)"
          let (first, second) = (secret("\(number) \(round)"), secret("changed \(round)"))
          guard add(password(name, first)) == errSecSuccess else { return "add" }
          guard add(password(name, first)) == errSecDuplicateItem else { return "second add" }
          let found = copy(password(name, [kSecReturnData: true]))
          guard found.data == first[kSecValueData] as? Data else { return "search" }
          guard update(password(name), second) == errSecSuccess else { return "update" }
          let changed = copy(password(name, [kSecReturnData: true]))
          guard changed.data == second[kSecValueData] as? Data else { return "second search" }
          guard delete(password(name)) == errSecSuccess else { return "delete" }
        }
        return nil
      }
      #expect(failures.isEmpty)
      #expect(count() == 0)
    }

    /// Add answers "duplicate" and Update "not found" when another was faster: the two races of the
    /// flow that a keychain is for.
    @Test func eightThreadsWithOneItemLoseNothing() {
      let failures = onThreads(8) { number in
        for round in 0..<Self.rounds {
          let value = secret("\(number) \(round)")
          switch (number + round) % 4 {
          case 0:
            let status = delete(password("one"))
            guard [errSecSuccess, errSecItemNotFound].contains(status) else { return "\(status)" }
          case 1:
            let found = copy(password("one", [kSecReturnData: true]))
            guard found.status == errSecSuccess || found.status == errSecItemNotFound else { return "\(found.status)" }
            if found.status == errSecSuccess, found.data == nil { return "no data" }
          default:
            var status = update(password("one"), value)
            for _ in 0..<100 where status != errSecSuccess {
              if status == errSecItemNotFound {
                status = add(password("one", value))
              } else if status == errSecDuplicateItem {
                status = update(password("one"), value)
              }
            }
            guard status == errSecSuccess else { return "\(status)" }
          }
        }
        return nil
      }
      #expect(failures.isEmpty)
      #expect(count() <= 1)
    }

    /// The first call of every thread finds no store.
    @Test(arguments: 0..<(Soak.triesAll ? 5 : 2)) func eightThreadsMakeOneStore(_ round: Int) {
      let failures = onThreads(8) { number in
        let status = add(password("thread \(number)"))
        return status == errSecSuccess ? nil : "\(status)"
      }
      #expect(failures.isEmpty)
      #expect(count() == 8)
    }

    @Test func closingAndChoosingAgainDoesNotFailOtherThreads() {
      let settings = LinuxKeychain.settings
      let rounds = Soak.triesAll ? 25 : 10
      let failures = onThreads(4) { number in
        for round in 0..<rounds {
          if number == 0 {
            round.isMultiple(of: 2) ? LinuxKeychain.close() : LinuxKeychain.bootstrap(settings)
          } else {
            let name = "\(number) \(round)"
            let status = add(password(name, secret(name)))
            guard status == errSecSuccess else { return "\(status)" }
            let found = copy(password(name, [kSecReturnData: true]))
            guard found.data == Data(name.utf8) else { return "\(found.status)" }
          }
        }
        return nil
      }
      #expect(failures.isEmpty)
      #expect(count() == 3 * rounds)
    }
  }
}
