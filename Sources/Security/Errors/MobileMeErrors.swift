// SPDX-License-Identifier: Apache-2.0

// The discontinued MobileMe service. The numbers are those of SecBase.h.

/// The request to MobileMe was queued.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// The request to MobileMe was sent on to another server.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// MobileMe answered with an error.
public let errSecMobileMeServerError: OSStatus = -67659
/// MobileMe does not answer.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// MobileMe has this already.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// A service of MobileMe failed.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// There is a request to MobileMe under way already.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// There is no request to MobileMe under way.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// MobileMe refused the certificate request's signature.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// MobileMe found a contradiction.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666
