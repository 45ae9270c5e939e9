import { domainToASCII } from 'node:url';

/**
 * Whether mail can be sent to an address. An account's address may hold characters with a meaning in headers and SMTP
 * commands unless quoted (RFC 5322 §3.2.3); such an address gets no mail, so one address never becomes two (mail §2.6).
 * Addresses below `.invalid` (RFC 2606) are synthetic (auth §1.4).
 */
export const isMailableAddress = (address: string): boolean => isOneAddress(address) && !/\.invalid$/i.test(address);

/** Whether a text is one address, and no other in a header or a command. */
export const isOneAddress = (text: string): boolean => text.length <= 254 && onePlainAddress.test(text);

const onePlainAddress = /^[^\s\p{C}()<>[\]:;@\\,"]{1,64}@[^\s\p{C}()<>[\]:;@\\,"]+$/u;

/**
 * Returns an address in the form for headers and SMTP commands: composed letters, and the domain in IDNA's ASCII form,
 * which servers without SMTPUTF8 take too (mail §2.6).
 */
export function mailedForm(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at).normalize('NFC')}@${domainToASCII(address.slice(at + 1)) || address.slice(at + 1)}`;
}
