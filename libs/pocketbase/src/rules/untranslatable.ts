/** Something in a rule that our language cannot say exactly. */
export class Untranslatable extends Error {}

/** A name that no collection or field has. */
export class MissingName extends Untranslatable {}
