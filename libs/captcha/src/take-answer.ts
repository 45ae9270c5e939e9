import type { Collection } from '@recordbus/schema';

/** The header that carries an answer next to a form, or where a field has the member's name. */
const captchaHeader = 'x-captcha';

type Body = Readonly<Record<string, unknown>>;

interface Sent {
  readonly body: Body;
  header(name: string): string | undefined;
}

/** Returns a captcha's answer: the header, else the body's member `captcha` (auth §10.2). */
export function answerIn({ body, header }: Sent): string | undefined {
  return header(captchaHeader) ?? (typeof body.captcha === 'string' ? body.captcha : undefined);
}

/**
 * Takes a captcha's answer out of a body that has the collection's fields. A field called `captcha` keeps its value; the
 * answer is then the header's.
 */
export function takeAnswer(
  { fields }: Pick<Collection, 'fields'>,
  { body, header }: Sent,
): { readonly answer: string | undefined; readonly body: Body } {
  if (fields.some(({ name }) => name === 'captcha')) return { answer: answerIn({ body: {}, header }), body };
  const { captcha, ...rest } = body;
  return { answer: answerIn({ body: { captcha }, header }), body: rest };
}
