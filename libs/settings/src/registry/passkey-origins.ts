import { normalizeOrigin } from './origin.ts';
import { commaList } from './text-schemas.ts';

/** What Android apps have as their origin: the hash of the certificate that signed them. */
const androidApp = /^android:apk-key-hash:[A-Za-z0-9_-]{43}$/;

/** Comma-separated origins of pages and apps with passkeys. A * as a whole would admit every page. */
export const passkeyOrigins = commaList
  .transform((entries, context): readonly string[] =>
    entries.map((entry) => {
      if (androidApp.test(entry)) return entry;
      const origin = normalizeOrigin(entry);
      if (origin !== undefined && /^https?:/.test(origin)) return origin;
      context.addIssue({
        code: 'custom',
        message: `"${entry.slice(0, 200)}" is not an origin, such as https://app.example.com`,
      });
      return '';
    }),
  )
  .describe('origins as https://app.example.com, or android:apk-key-hash:… for an app');
