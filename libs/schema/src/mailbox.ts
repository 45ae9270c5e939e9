import { domainToASCII, domainToUnicode } from 'node:url';

/** RFC 5321 §4.5.3.1: the longest local part, and the longest path without its two angle brackets, in octets. */
const maxLocalBytes = 64;
const maxBytes = 254;
/** RFC 1035 §2.3.4, in octets. */
const maxDomainBytes = 253;

/** What nobody sees: controls, bidirectional marks, joiners, fillers, variation selectors, unassigned code points. */
const invisible = /[\p{C}\p{Default_Ignorable_Code_Point}]/u;

/** What RFC 5321 §4.1.2 and RFC 6531 §3.3 call an atom. */
const atom = /^[^\s\p{Z}()<>[\]:;@\\,"]+$/u;

/** What may be in a domain before IDNA maps it: letters, marks, digits, hyphens, and the dots of all scripts. */
const domainText = /^[\p{L}\p{M}\p{N}.。．｡-]+$/u;

/** A domain label in its ASCII form (RFC 5321 §4.1.2). */
const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const maxLabelLength = 63;

/** A mailbox that mail can be sent to, or what is wrong with the text. */
export type ReadMailbox = { readonly address: string } | { readonly problem: string };

const malformed = { problem: 'must look like name@example.com' };

/**
 * Reads an account's address into its canonical form, so that one mailbox has one text except for the local part's case
 * (fields §3.4): letters are composed (NFC), and the domain is in lower case, decoded from IDNA's ASCII form. The text
 * has at most 254 UTF-16 code units, because normalization takes quadratic time.
 */
export function readMailbox(text: string): ReadMailbox {
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return malformed;
  if (invisible.test(text)) return { problem: 'must not have invisible characters' };
  const at = text.indexOf('@');
  const [local, domain] = [composed(text.slice(0, at)), text.slice(at + 1)];
  if (at < 1 || !local.split('.').every((part) => atom.test(part)) || !domainText.test(domain)) return malformed;
  const ascii = domainToASCII(domain);
  if (!isMailDomain(ascii)) return malformed;
  const shown = domainToUnicode(ascii);
  if (domainToASCII(shown) !== ascii) return malformed;
  const address = `${local}@${shown}`;
  if (invisible.test(address)) return { problem: 'must not have invisible characters' };
  const bytes = Math.max(Buffer.byteLength(address), Buffer.byteLength(`${local}@${ascii}`));
  if (Buffer.byteLength(local) > maxLocalBytes)
    return { problem: `must have at most ${maxLocalBytes} bytes before the @` };
  return bytes > maxBytes ? { problem: `must have at most ${maxBytes} bytes` } : { address };
}

/**
 * Returns the form in which an address is looked up and counted: canonical, or without the spaces around it if it is no
 * address. Accepts any text, since accounts from earlier versions may have such addresses.
 */
export function canonicalAddress(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > maxBytes) return trimmed;
  const read = readMailbox(trimmed);
  return 'address' in read ? read.address : trimmed;
}

/**
 * Returns the forms in which an account is looked up, the first that exists counts: as typed, then canonical. They are
 * one form for most addresses. The first finds a mailbox's second account, which an earlier version let in (auth §1.3).
 */
export function lookupForms(text: string): readonly string[] {
  const [typed, canonical] = [text.trim(), canonicalAddress(text)];
  return typed.toLowerCase() === canonical.toLowerCase() ? [canonical] : [typed, canonical];
}

/**
 * NFC, but İ stays a letter with a mark. The database folds İ to i, and İx and ix are two mailboxes; the mark keeps them
 * apart in every locale.
 */
const composed = (local: string): string => local.normalize('NFC').replaceAll('\u0130', 'I\u0307');

/** Whether a domain in ASCII form has two labels or more, the last of which is not a number, unlike an IPv4 address. */
function isMailDomain(ascii: string): boolean {
  if (ascii.length > maxDomainBytes) return false;
  const labels = ascii.split('.');
  const last = labels.at(-1) ?? '';
  return (
    labels.length > 1 && !/^\d+$/.test(last) && labels.every((one) => one.length <= maxLabelLength && label.test(one))
  );
}
