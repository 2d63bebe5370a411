//! Component files made by hand, byte by byte, where the probe is too good for a test.

use super::*;

/// A component that imports empty instances, and exports the last of them under each of the other names.
pub(super) fn component(imports: &[&str], exports: &[&str]) -> VerifiedBytes {
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    // One type: an instance without anything in it.
    section(&mut bytes, 7, &[1, 0x42, 0]);
    let mut list = vec![u8::try_from(imports.len()).unwrap()];
    for import in imports {
        name(&mut list, import);
        list.extend([5, 0]);
    }
    section(&mut bytes, 10, &list);
    let mut list = vec![u8::try_from(exports.len()).unwrap()];
    for export in exports {
        name(&mut list, export);
        list.extend([5, u8::try_from(imports.len() - 1).unwrap(), 0]);
    }
    section(&mut bytes, 11, &list);
    pinned(bytes)
}

/// A component of as many core modules, each with a memory of so many pages of 64 KiB.
pub(super) fn memories(modules: u8, pages: u8) -> VerifiedBytes {
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    section(&mut module, 5, &[1, 0, pages]);
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    let mut instances = vec![modules];
    for index in 0..modules {
        section(&mut bytes, 1, &module);
        instances.extend([0, index, 0]);
    }
    section(&mut bytes, 2, &instances);
    pinned(bytes)
}

/// A component whose one core module starts with a function that loops for ever.
pub(super) fn endless_start() -> VerifiedBytes {
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    section(&mut module, 1, &[1, 0x60, 0, 0]);
    section(&mut module, 3, &[1, 0]);
    section(&mut module, 8, &[0]);
    // loop; br 0; end
    section(&mut module, 10, &[1, 7, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b]);
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    section(&mut bytes, 1, &module);
    section(&mut bytes, 2, &[1, 0, 0, 0]);
    pinned(bytes)
}

pub(super) fn pinned(bytes: Vec<u8>) -> VerifiedBytes {
    VerifiedBytes::pin(bytes, PluginLimits::standard().component_bytes).unwrap()
}

fn section(bytes: &mut Vec<u8>, id: u8, content: &[u8]) {
    assert!(content.len() < 1 << 14);
    let length = content.len();
    bytes.push(id);
    bytes.extend([
        u8::try_from(length & 0x7f).unwrap() | 0x80,
        u8::try_from(length >> 7).unwrap(),
    ]);
    bytes.extend(content);
}

fn name(bytes: &mut Vec<u8>, name: &str) {
    bytes.push(0);
    bytes.push(u8::try_from(name.len()).unwrap());
    bytes.extend(name.as_bytes());
}
