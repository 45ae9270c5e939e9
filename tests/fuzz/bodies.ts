import fc from 'fast-check';
import { multipart } from '../harness/clients/multipart.ts';
import type { Operation } from './operations.ts';

/** A body with its content type. */
interface Body {
  readonly type: string;
  readonly content: string | Uint8Array;
}

const asJson = (content: string | Uint8Array): Body => ({ type: 'application/json', content });

/** JSON texts that no schema describes: truncated, empty, another type, too deep, or with too large a number. */
const unreadable: readonly string[] = [
  '{"a":',
  '',
  '[]',
  'null',
  '1',
  '{"__proto__": 1}',
  '\ufeff{}',
  `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  `{"meta":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  '{"n":1e400,"meta":-1e400}',
  `{"n":${'9'.repeat(400)}}`,
  '{"code":"\\ud800","title":"\\udfff\\u0000"}',
  '{"n":1,"n":2}',
];

const otherTypes = [
  'text/plain',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'x',
  '',
];

/** Forms with files, for fields that exist and for others. */
const forms: fc.Arbitrary<Body> = fc
  .array(
    fc.record(
      {
        name: fc.constantFrom(
          'photo',
          'papers',
          'papers+',
          'papers-',
          'title',
          'code',
          'n',
          'tags',
          '_json',
          'none',
          '',
        ),
        filename: fc.constantFrom('a.txt', '../../a.png', '\u0000', 'ü'.repeat(300), ''),
        type: fc.constantFrom('image/png', 'text/html', 'x'),
        content: fc.oneof(fc.string(), fc.uint8Array({ maxLength: 400 }), fc.constantFrom('{"code":"ab"}', '{', 'abc')),
      },
      { requiredKeys: ['name', 'content'] },
    ),
    { maxLength: 5 },
  )
  .map((parts) => {
    const { rawBody, headers } = multipart({ name: 'code', content: 'form' }, ...parts);
    return { type: String(headers['Content-Type']), content: rawBody };
  });

/** Bodies for an operation: most match the document, some are forms where it takes them, some are neither. */
export function bodyOf(
  { takesForm }: Operation,
  fitting: fc.Arbitrary<unknown> | undefined,
): fc.Arbitrary<Body | undefined> {
  if (!fitting) return fc.constant(undefined);
  return fc.oneof(
    { weight: 20, arbitrary: fitting.map((value) => asJson(JSON.stringify(value))) },
    { weight: takesForm ? 10 : 0, arbitrary: forms },
    fc.constantFrom(...unreadable).map(asJson),
    fc.constant(asJson(new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]))),
    fc.constantFrom(...otherTypes).map((type) => ({ type, content: 'a=1' })),
    fc.constant(undefined),
  );
}
