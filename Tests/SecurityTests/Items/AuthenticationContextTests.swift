import Foundation
import LocalAuthentication
import Security
import Synchronization
import Testing

extension OwnKeychain {
  /// `kSecUseAuthenticationContext` with an `LAContext`, as published wrappers pass it.
  @Suite struct AuthenticationContextTests {
    private let store = ProgramStore()

    /// Somebody who answers, and what was asked.
    private final class Person: Sendable {
      private let state = Mutex((answer: Bool?.some(true), prompts: [String?]()))

      var answer: Bool? {
        get { state.withLock { $0.answer } }
        set { state.withLock { $0.answer = newValue } }
      }
      var prompts: [String?] { state.withLock { $0.prompts } }

      func ask(_ prompt: String?) -> Bool? {
        state.withLock {
          $0.prompts.append(prompt)
          return $0.answer
        }
      }
    }

    private let person = Person()

    init() {
      store.use(confirmPresence: { [person] in person.ask($0) })
      insert(password("guarded", secret("hidden"), control()))
    }

    private func read(_ context: LAContext, _ more: [String: Any] = [:]) -> OSStatus {
      let query: [String: Any] = [kSecReturnData: true, kSecUseAuthenticationContext: context]
      return find(password("guarded", query, more))
    }

    @discardableResult private func evaluate(_ context: LAContext) async throws -> Bool {
      try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "why")
    }

    @Test("The words of the context are shown, unless the query has its own") func reason() {
      let context = LAContext()
      #expect(read(context) == errSecSuccess)
      context.localizedReason = "open the door"
      #expect(read(context) == errSecSuccess)
      #expect(read(context, [kSecUseOperationPrompt: "close it"]) == errSecSuccess)
      #expect(person.prompts == [nil, "open the door", "close it"])
    }

    @Test("A context that forbids interaction answers -25308 without a question") func noInteraction() {
      let context = LAContext()
      context.interactionNotAllowed = true
      #expect(read(context) == errSecInteractionNotAllowed)
      #expect(read(context, [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]) == errSecItemNotFound)
      insert(password("open", [kSecUseAuthenticationContext: context]))
      #expect(find(password("open", [kSecUseAuthenticationContext: context])) == errSecSuccess)
      #expect(person.prompts.isEmpty)
    }

    @Test("An agreement counts for the context's reuse time, and for no other context") func reuse() {
      let context = LAContext()
      for _ in 0..<2 { #expect(read(context) == errSecSuccess) }
      #expect(person.prompts.count == 2, "without a time, each call asks")
      context.touchIDAuthenticationAllowableReuseDuration = LATouchIDAuthenticationMaximumAllowableReuseDuration
      person.answer = false
      #expect(read(context) == errSecSuccess)
      #expect(update(password("guarded", [kSecUseAuthenticationContext: context]), secret("changed")) == errSecSuccess)
      #expect(person.prompts.count == 2)
      #expect(read(LAContext()) == errSecUserCanceled)
      #expect(person.prompts.count == 3)
      context.touchIDAuthenticationAllowableReuseDuration = -.infinity
      #expect(read(context) == errSecUserCanceled)
      context.invalidate()
      #expect(read(context) == errSecInteractionNotAllowed)
      #expect(person.prompts.count == 4)
    }

    @Test("A context that was agreed to needs no interaction within its reuse time") func agreedWithoutInteraction()
      async throws
    {
      let context = LAContext()
      context.touchIDAuthenticationAllowableReuseDuration = 60
      #expect(try await evaluate(context))
      context.interactionNotAllowed = true
      #expect(read(context) == errSecSuccess)
      #expect(try await evaluate(context))
      context.touchIDAuthenticationAllowableReuseDuration = 0
      #expect(read(context) == errSecInteractionNotAllowed)
      await #expect(throws: LAError.notInteractive) { try await evaluate(context) }
      #expect(person.prompts == ["why"])
    }

    @Test("A refusal is not remembered") func refusal() {
      let context = LAContext()
      context.touchIDAuthenticationAllowableReuseDuration = .infinity
      person.answer = false
      #expect(read(context) == errSecUserCanceled)
      person.answer = true
      #expect(read(context) == errSecSuccess)
      #expect(read(context) == errSecSuccess)
      #expect(person.prompts.count == 2)
    }

    @Test("A policy is evaluated by the person whom the keychain asks") func policies() async throws {
      let context = LAContext()
      context.touchIDAuthenticationAllowableReuseDuration = 60
      var problem: NSError?
      #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &problem))
      #expect(try await evaluate(context))
      #expect(read(context) == errSecSuccess, "what was agreed to counts here")
      #expect(person.prompts == ["why"])

      #expect(!context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &problem))
      #expect(problem?.domain == LAErrorDomain)
      #expect(problem?.code == LAError.biometryNotAvailable.rawValue)

      func code(_ context: LAContext) async -> LAError.Code? {
        await withCheckedContinuation { continuation in
          context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "why") {
            #expect($0 == ($1 == nil))
            continuation.resume(returning: ($1 as? LAError)?.code)
          }
        }
      }
      person.answer = false
      #expect(await code(LAContext()) == .userCancel)
      person.answer = nil
      #expect(await code(LAContext()) == .notInteractive)
      context.invalidate()
      #expect(await code(context) == .invalidContext)
      await #expect(throws: LAError.invalidContext) { try await evaluate(context) }
    }
  }
}
