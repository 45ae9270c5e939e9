/** What is known about a captcha's answer. `away` when the provider could not be asked, with the cause. */
export type Verdict =
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'away'; readonly reason: string }
  | { readonly outcome: 'solved'; readonly id: string; readonly expiresAtSec: number };
