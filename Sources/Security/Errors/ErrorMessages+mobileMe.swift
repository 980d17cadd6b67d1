// SPDX-License-Identifier: Apache-2.0

extension ErrorMessages {
  /// The discontinued MobileMe service.
  static let mobileMe: [OSStatus: String] = [
    errSecMobileMeRequestQueued: "The request to MobileMe was queued.",
    errSecMobileMeRequestRedirected: "The request to MobileMe was sent on to another server.",
    errSecMobileMeServerError: "MobileMe answered with an error.",
    errSecMobileMeServerNotAvailable: "MobileMe does not answer.",
    errSecMobileMeServerAlreadyExists: "MobileMe has this already.",
    errSecMobileMeServerServiceErr: "A service of MobileMe failed.",
    errSecMobileMeRequestAlreadyPending: "There is a request to MobileMe under way already.",
    errSecMobileMeNoRequestPending: "There is no request to MobileMe under way.",
    errSecMobileMeCSRVerifyFailure: "MobileMe refused the certificate request's signature.",
    errSecMobileMeFailedConsistencyCheck: "MobileMe found a contradiction.",
  ]
}
