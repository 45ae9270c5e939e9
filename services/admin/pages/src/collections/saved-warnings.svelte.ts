/** The warnings about the definition that was saved last. They outlive the editor, which a create leaves. */
class SavedWarnings {
  #collectionId = $state('');
  #warnings = $state.raw<readonly string[]>([]);

  /** Keeps the warnings about a collection's new definition. */
  keep(collectionId: string, warnings: readonly string[]): void {
    [this.#collectionId, this.#warnings] = [collectionId, warnings];
  }

  /** Returns the warnings to show with a collection. */
  about(collectionId: string | undefined): readonly string[] {
    return collectionId === this.#collectionId ? this.#warnings : [];
  }
}

export const savedWarnings = new SavedWarnings();
