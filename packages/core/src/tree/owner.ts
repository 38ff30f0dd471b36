/** An ownership mark: a tree with the same mark as a part may change the part in place. */
export class Owner {
  declare private readonly brand: never;
}
