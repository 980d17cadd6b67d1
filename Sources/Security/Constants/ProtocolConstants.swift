// SPDX-License-Identifier: Apache-2.0

// Protocols and ways to log in, of internet passwords.

/// The Apple Filing Protocol.
public let kSecAttrProtocolAFP: CFString = "afp "
/// AppleTalk.
public let kSecAttrProtocolAppleTalk: CFString = "atlk"
/// DAAP.
public let kSecAttrProtocolDAAP: CFString = "daap"
/// Remote Apple events.
public let kSecAttrProtocolEPPC: CFString = "eppc"
/// FTP.
public let kSecAttrProtocolFTP: CFString = "ftp "
/// An FTP account.
public let kSecAttrProtocolFTPAccount: CFString = "ftpa"
/// An FTP proxy.
public let kSecAttrProtocolFTPProxy: CFString = "ftpx"
/// FTP over TLS.
public let kSecAttrProtocolFTPS: CFString = "ftps"
/// HTTP.
public let kSecAttrProtocolHTTP: CFString = "http"
/// An HTTP proxy.
public let kSecAttrProtocolHTTPProxy: CFString = "htpx"
/// HTTP over TLS.
public let kSecAttrProtocolHTTPS: CFString = "htps"
/// An HTTPS proxy.
public let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
/// IMAP.
public let kSecAttrProtocolIMAP: CFString = "imap"
/// IMAP over TLS.
public let kSecAttrProtocolIMAPS: CFString = "imps"
/// IPP.
public let kSecAttrProtocolIPP: CFString = "ipp "
/// IRC.
public let kSecAttrProtocolIRC: CFString = "irc "
/// IRC over TLS.
public let kSecAttrProtocolIRCS: CFString = "ircs"
/// LDAP.
public let kSecAttrProtocolLDAP: CFString = "ldap"
/// LDAP over TLS.
public let kSecAttrProtocolLDAPS: CFString = "ldps"
/// NNTP.
public let kSecAttrProtocolNNTP: CFString = "nntp"
/// NNTP over TLS.
public let kSecAttrProtocolNNTPS: CFString = "ntps"
/// POP3.
public let kSecAttrProtocolPOP3: CFString = "pop3"
/// POP3 over TLS.
public let kSecAttrProtocolPOP3S: CFString = "pops"
/// RTSP.
public let kSecAttrProtocolRTSP: CFString = "rtsp"
/// An RTSP proxy.
public let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
/// SMB.
public let kSecAttrProtocolSMB: CFString = "smb "
/// SMTP.
public let kSecAttrProtocolSMTP: CFString = "smtp"
/// SOCKS.
public let kSecAttrProtocolSOCKS: CFString = "sox "
/// SSH.
public let kSecAttrProtocolSSH: CFString = "ssh "
/// Telnet.
public let kSecAttrProtocolTelnet: CFString = "teln"
/// Telnet over TLS.
public let kSecAttrProtocolTelnetS: CFString = "tels"
/// NTLM.
public let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
/// MSN.
public let kSecAttrAuthenticationTypeMSN: CFString = "msna"
/// Distributed password authentication.
public let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
/// Remote password authentication.
public let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
/// HTTP basic.
public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
/// HTTP digest.
public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
/// A form on a page.
public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
/// The default.
public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
