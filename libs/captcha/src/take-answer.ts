import type { Collection } from '@recordbus/schema';

/** The header that carries an answer next to a form, or where a field has the member's name. */
export const captchaHeader = 'x-captcha';

type Body = Readonly<Record<string, unknown>>;

interface Sent {
  readonly body: Body;
  header(name: string): string | undefined;
}

/**
 * Takes a captcha's answer out of a body that has the collection's fields. A field called `captcha` keeps its value; the
 * answer is then the header's.
 */
export function takeAnswer(
  { fields }: Pick<Collection, 'fields'>,
  { body, header }: Sent,
): { readonly answer: string | undefined; readonly body: Body } {
  const given = header(captchaHeader);
  if (!Object.hasOwn(body, 'captcha') || fields.some(({ name }) => name === 'captcha')) return { answer: given, body };
  const { captcha, ...rest } = body;
  return { answer: given ?? (typeof captcha === 'string' ? captcha : undefined), body: rest };
}
