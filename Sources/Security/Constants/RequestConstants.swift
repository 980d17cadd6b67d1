// What a request says besides attributes: how to match, what to return, whom to ask.

/// A policy that certificates must meet; not supported.
public let kSecMatchPolicy: CFString = "m_Policy"
/// An array of references: only these items.
public let kSecMatchItemList: CFString = "m_ItemList"
/// An array of keychains; there is but one, so it is not used.
public let kSecMatchSearchList: CFString = "m_SearchList"
/// An array of issuers that certificates must have; not supported.
public let kSecMatchIssuers: CFString = "m_Issuers"
/// A mail address that certificates must have; not supported.
public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// A text within the subject of certificates; not supported.
public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// A host: internet passwords for it, or for a name below it.
public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"
/// The beginning of the subject of certificates; not supported.
public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// The end of the subject of certificates; not supported.
public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// The subject of certificates; not supported.
public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// A truth value: whether text is equal when only its case differs.
public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// A truth value: whether accents do not matter; only false is supported.
public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// A truth value: whether width does not matter; only false is supported.
public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// A truth value: only trusted certificates; only false is supported.
public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// A date on which certificates must be valid; not supported.
public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
/// How many items at most: a number, or one of the two below.
public let kSecMatchLimit: CFString = "m_Limit"
/// One item, given as a single value; the default of searches.
public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// All items, given as an array.
public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// A truth value: give the secret.
public let kSecReturnData: CFString = "r_Data"
/// A truth value: give the attributes.
public let kSecReturnAttributes: CFString = "r_Attributes"
/// A truth value: give the certificate, key or identity as an object.
public let kSecReturnRef: CFString = "r_Ref"
/// A truth value: give a reference that outlives the program.
public let kSecReturnPersistentRef: CFString = "r_PersistentRef"
/// The secret, as data.
public let kSecValueData: CFString = "v_Data"
/// A certificate, key or identity as an object.
public let kSecValueRef: CFString = "v_Ref"
/// A persistent reference, as data.
public let kSecValuePersistentRef: CFString = "v_PersistentRef"
/// An array of items to work on; not supported.
public let kSecUseItemList: CFString = "u_ItemList"
/// A keychain; there is but one, so it is not used.
public let kSecUseKeychain: CFString = "u_Keychain"
/// Words for the person who is asked.
public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// A truth value: the older way to say that nobody may be asked.
public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Whether a person may be asked: one of the three below.
public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// An object of another framework; not used.
public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// A truth value for another system; there is but one keychain, so it is not used.
public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// A truth value for another system; not used.
public let kSecUseUserIndependentKeychain: CFString = "u_UserIndependent"
/// A person may be asked; the default.
public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Answer -25308 rather than ask.
public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Leave out what somebody would have to be asked for; in searches only.
public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"

// Names around keys and PKCS #12 files. No call of this library uses them: they are there for the
// programs that list them.

/// For a pair of keys: what the private one gets.
public let kSecPrivateKeyAttrs: CFString = "private"
/// For a pair of keys: what the public one gets.
public let kSecPublicKeyAttrs: CFString = "public"
/// The password of a shared web credential.
public let kSecSharedPassword: CFString = "spwd"
/// The passphrase of a file that is imported or exported.
public let kSecImportExportPassphrase: CFString = "passphrase"
/// The keychain to import to.
public let kSecImportExportKeychain: CFString = "keychain"
/// The access list of what is imported.
public let kSecImportExportAccess: CFString = "access"
/// The label of what was imported.
public let kSecImportItemLabel: CFString = "label"
/// The identifier of an imported key.
public let kSecImportItemKeyID: CFString = "keyid"
/// The trust in an imported certificate.
public let kSecImportItemTrust: CFString = "trust"
/// The certificates that were imported.
public let kSecImportItemCertChain: CFString = "chain"
/// The identity that was imported.
public let kSecImportItemIdentity: CFString = "identity"

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
