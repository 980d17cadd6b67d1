// SPDX-License-Identifier: Apache-2.0

extension ErrorMessages {
  /// Time stamps, and late additions on certificates.
  static let timestamps: [OSStatus: String] = [
    errSecTimestampMissing: "The time stamp is missing.",
    errSecTimestampInvalid: "The time stamp does not fit.",
    errSecTimestampNotTrusted: "The time stamp is not trusted.",
    errSecTimestampServiceNotAvailable: "The time stamp service does not answer.",
    errSecTimestampBadAlg: "The time stamp service does not support the algorithm.",
    errSecTimestampBadRequest: "The time stamp service does not permit the request.",
    errSecTimestampBadDataFormat: "The time stamp service cannot read the data.",
    errSecTimestampTimeNotAvailable: "The time stamp service has no time.",
    errSecTimestampUnacceptedPolicy: "The time stamp service does not support the policy.",
    errSecTimestampUnacceptedExtension: "The time stamp service does not support an extension.",
    errSecTimestampAddInfoNotAvailable:
      "The time stamp service does not have the additional information.",
    errSecTimestampSystemFailure: "The time stamp service failed.",
    errSecSigningTimeMissing: "The time of signing is missing.",
    errSecTimestampRejection: "The time stamp service refused.",
    errSecTimestampWaiting: "The time stamp service has not decided yet.",
    errSecTimestampRevocationWarning: "The time stamp's certificate is about to be revoked.",
    errSecTimestampRevocationNotification: "The time stamp's certificate was revoked.",
    errSecCertificatePolicyNotAllowed: "A policy of the certificate is not allowed.",
    errSecCertificateNameNotAllowed: "A name in the certificate is not allowed.",
    errSecCertificateValidityPeriodTooLong: "The certificate is valid for longer than allowed.",
    errSecCertificateIsCA: "The certificate is an authority's, and should not be.",
    errSecCertificateDuplicateExtension: "The certificate has an extension more than once.",
    errSecMissingQualifiedCertStatement: "A statement of the qualified certificate is missing.",
  ]
}
