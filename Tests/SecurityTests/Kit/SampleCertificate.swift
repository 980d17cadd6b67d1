import Foundation
import Security
import Testing

/// Certificates made for these tests; the keys are nobody's.
enum SampleCertificate {
  /// Elliptic curve; serial 0x0123456789ABCDEF, subject "C=DE, O=Example Ltd, OU=Hubs, CN=Hub Ä1".
  static let hub = data(
    """
    MIIB1DCCAXmgAwIBAgIIASNFZ4mrze8wCgYIKoZIzj0EAwIwRDELMAkGA1UEBhMCREUxFDASBgNVBAoMC0V4YW1w
    bGUgTHRkMQ0wCwYDVQQLDARIdWJzMRAwDgYDVQQDDAdIdWIgw4QxMCAXDTI2MTEyMTEwMTIxN1oYDzIxMjYxMDI4
    MTAxMjE3WjBEMQswCQYDVQQGEwJERTEUMBIGA1UECgwLRXhhbXBsZSBMdGQxDTALBgNVBAsMBEh1YnMxEDAOBgNV
    BAMMB0h1YiDDhDEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ2yorg3Bhv/GPicDEsl7cbhFp91xcO2I0s0T4W
    37ctH1OmAKbocwjpdMPYjVYK2dfN4tlGr7dRvdG9zkKb3Zjuo1MwUTAdBgNVHQ4EFgQU/tk+XckrzRo6k+tvd0SL
    B0xjS4EwHwYDVR0jBBgwFoAU/tk+XckrzRo6k+tvd0SLB0xjS4EwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQD
    AgNJADBGAiEA5FAa1rOFvztbkLj9/zRqLGLUjT5qY/6Ohan2NfMNBD0CIQCK7tk1kxJ2/ngoHkYOwYVks7qtm+5B
    x/RVGcSbKKUoWQ==
    """)
  /// The SHA-1 of its public key.
  static let hubKeyHash = Data([
    0xFE, 0xD9, 0x3E, 0x5D, 0xC9, 0x2B, 0xCD, 0x1A, 0x3A, 0x93, 0xEB, 0x6F, 0x77, 0x44, 0x8B, 0x07, 0x4C, 0x63, 0x4B,
    0x81,
  ])

  /// RSA; serial 7, subject "O=Only Org".
  static let organization = data(
    """
    MIIC9jCCAd6gAwIBAgIBBzANBgkqhkiG9w0BAQsFADATMREwDwYDVQQKDAhPbmx5IE9yZzAgFw0yNjExMjExMDEy
    MThaGA8yMTI2MTAyODEwMTIxOFowEzERMA8GA1UECgwIT25seSBPcmcwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAw
    ggEKAoIBAQDrJpKXqxusWkcyhniGg5F9YorDqqZL4QTDWvlP98YC4dmch0FRtxrGoeQxLZOMyArc6BtORtC+IaZ0
    4COYZfGkYqgL7lRRmwrF75m0vUsUBy6Pqa4X8zlDZlnHG0uiWSqGDgnOtMUw4x/hgDMI7tTNkv4hdgpN53F6yyK8
    kj08F6sLOkKPbMUW6MGDIvQukcAokXFYYTbcsM1PidYuk9L588o9MeT5/XXnB6qG5F0o/89CAbAktMFOO0JpDz9f
    HGJ6PxVtKYkWb28j1VRi1NP5h6Z6CwHMM7z1Gjm2dgPSegMuZM40p8T0jT7lwvQQ/fWkppGYrXfv61/GltoXebhR
    AgMBAAGjUzBRMB0GA1UdDgQWBBRHrLGPn90WI7BcXM/z5vgWtX7W6TAfBgNVHSMEGDAWgBRHrLGPn90WI7BcXM/z
    5vgWtX7W6TAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4IBAQDemms2JWaJOUmvXAB5NR4QrvCITBKu
    +a4aqVbEo7l19enOgwPpE7f3GFKLigG3T7u+vRheLG7MQ4Hz3HWxHjje+1OjWfmqRdm+luTQQRXBgnDNvzQhCVIw
    3o1fCvMwZh/tIU0h5IkBCbzsw/o/2RlwulU1KOCfeE2Im1ejEMAY84Gwgm/t5i3FIO0R96xIMv3HBBlaFxpwQzMU
    CdhPGHAwRyE0SKSYrm0+NlCibdoAGGM15HA8rJoKK5RghoMUnfknLePJW0prApoCvDvldAyPdCjEzB89iXgi5ZXK
    zSPLVWhYsRBdsoyZlPGje+nx40L2a6BY2kNE4x7n4CHz24yF
    """)

  private static func data(_ base64: String) -> Data {
    Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data()
  }
}

func certificate(_ data: Data = SampleCertificate.hub) throws -> SecCertificate {
  try #require(SecCertificateCreateWithData(nil, data))
}
