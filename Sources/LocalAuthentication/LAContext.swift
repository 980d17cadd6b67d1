import Dispatch
import Foundation
import Security
import Synchronization

/// The longest time for which an agreement counts: five minutes.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// What has to be there (LAContext.h). There are no sensors: only `deviceOwnerAuthentication` can be evaluated.
public enum LAPolicy: Int, Sendable {
  /// A fingerprint or face.
  case deviceOwnerAuthenticationWithBiometrics = 1
  /// A person, however recognized: here one who answers `LinuxKeychain.Settings.confirmPresence`.
  case deviceOwnerAuthentication = 2
  /// A device that is worn.
  case deviceOwnerAuthenticationWithWatch = 3
  /// One of the two.
  case deviceOwnerAuthenticationWithBiometricsOrWatch = 4
}

/// Asks a person, and says with `kSecUseAuthenticationContext` how a call of the keychain may ask: with which words,
/// whether at all, and for how long an agreement counts. Members as in Apple's `LAContext`
/// (https://developer.apple.com/documentation/localauthentication/lacontext), as far as wrappers of the keychain use
/// them.
open class LAContext: NSObject, LinuxKeychain.AuthenticationContext, @unchecked Sendable {
  // Unchecked because it is open: what it has itself is guarded by a mutex.
  private struct State {
    var reason = ""
    var fallbackTitle: String?
    var cancelTitle: String?
    var reuseDuration: TimeInterval = 0
    var forbidsInteraction = false
    var isInvalid = false
    var agreed: ContinuousClock.Instant?
  }
  // Unchecked because the class is open: all it holds is under this lock.
  private let state = Mutex(State())

  /// The words of the question.
  open var localizedReason: String {
    get { state.withLock { $0.reason } }
    set { state.withLock { $0.reason = newValue } }
  }

  /// Kept, and shown nowhere.
  open var localizedFallbackTitle: String? {
    get { state.withLock { $0.fallbackTitle } }
    set { state.withLock { $0.fallbackTitle = newValue } }
  }

  /// Kept, and shown nowhere.
  open var localizedCancelTitle: String? {
    get { state.withLock { $0.cancelTitle } }
    set { state.withLock { $0.cancelTitle = newValue } }
  }

  /// Seconds for which an agreement to this context counts for its next calls, 300 at the most. 0, the default: each
  /// call asks.
  open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
    get { state.withLock { $0.reuseDuration } }
    set { state.withLock { $0.reuseDuration = newValue } }
  }

  /// True: nobody is asked. Calls of the keychain that need a person answer -25308, unless an earlier agreement counts.
  open var interactionNotAllowed: Bool {
    get { state.withLock { $0.forbidsInteraction } }
    set { state.withLock { $0.forbidsInteraction = newValue } }
  }

  /// Ends it: what was agreed to counts no more, and nobody is asked for it any more.
  open func invalidate() { state.withLock { $0.isInvalid = true } }

  /// Whether a policy can be evaluated: whether there is a function that asks. It may still find nobody.
  ///
  /// - Parameter error: gets the reason if not, an `LAError.Code` of the domain `LAErrorDomain`.
  open func canEvaluatePolicy(_ policy: LAPolicy, error: UnsafeMutablePointer<NSError?>?) -> Bool {
    guard let obstacle = obstacle(policy) else { return true }
    error?.pointee = NSError(domain: LAErrorDomain, code: obstacle.errorCode, userInfo: obstacle.errorUserInfo)
    return false
  }

  /// Asks a person, as a call of the keychain would.
  ///
  /// - Parameters:
  ///   - localizedReason: the words of the question.
  ///   - reply: gets true, or false and an `LAError`; on another thread.
  open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, (any Error)?) -> Void) {
    // It is called once, and by nobody else.
    nonisolated(unsafe) let reply = reply
    DispatchQueue.global().async { [self] in
      let error = evaluate(policy, localizedReason)
      reply(error == nil, error)
    }
  }

  /// Asks a person, as a call of the keychain would.
  ///
  /// - Parameter localizedReason: the words of the question.
  /// - Returns: true.
  /// - Throws: `LAError`.
  open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      evaluatePolicy(policy, localizedReason: localizedReason) { agrees, error in
        continuation.resume(with: error.map { .failure($0) } ?? .success(agrees))
      }
    }
  }

  /// Answers for a person who has agreed within the time of reuse, or asks.
  open func agreement(orByAsking ask: () -> Bool?) -> Bool? {
    let (isInvalid, agreed, duration) = state.withLock { ($0.isInvalid, $0.agreed, $0.reuseDuration) }
    if isInvalid { return nil }
    let limit = min(duration, LATouchIDAuthenticationMaximumAllowableReuseDuration)
    if let agreed, limit > 0, agreed.duration(to: .now) < .seconds(limit) { return true }
    let answer = ask()
    return state.withLock { state in
      if answer == true { state.agreed = .now }
      return state.isInvalid ? nil : answer
    }
  }

  private func obstacle(_ policy: LAPolicy) -> LAError? {
    if state.withLock({ $0.isInvalid }) { return .invalidContext }
    guard policy == .deviceOwnerAuthentication else { return .biometryNotAvailable }
    return LinuxKeychain.settings.confirmPresence == nil ? .notInteractive : nil
  }

  private func evaluate(_ policy: LAPolicy, _ reason: String) -> LAError? {
    if let obstacle = obstacle(policy) { return obstacle }
    let answer = agreement { interactionNotAllowed ? nil : LinuxKeychain.settings.confirmPresence?(reason) }
    switch answer {
    case true?: return nil
    case false?: return .userCancel
    case nil: return obstacle(policy) ?? .notInteractive
    }
  }
}
