/** For the check of the package: it is outside of the folder whose packages have it. */
export { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
