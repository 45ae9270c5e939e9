import { type Field, fileOptionsOf } from '@recordbus/schema';
import { findUnmatched } from '@recordbus/schema/content-types';

/** Returns a warning for each content type in a file field that no file has (fields §3.15). */
export const warningsOfContentTypes = (fields: readonly Field[]): string[] =>
  fields
    .filter(({ type }) => type === 'file')
    .flatMap((field) =>
      findUnmatched(fileOptionsOf(field).mimeTypes).map(
        (type) => `The field ${field.name} lists ${type} in mimeTypes, but no file is recognised as this type.`,
      ),
    );
