/** An ownership mark: a tree that holds the same object may change the part in place. */
export class Owner {
  declare private readonly brand: never;
}
