# What `cmake --install` puts under its prefix, which may be moved afterwards; src/program/CMakeLists.txt says what belongs to it of the subsystem library.
include(CMakePackageConfigHelpers)

install(TARGETS mdpcosim RUNTIME DESTINATION bin)
install(TARGETS mdpcosim_host RUNTIME DESTINATION libexec/mdpcosim)
install(TARGETS mdpcosim_library EXPORT mdpcosim LIBRARY DESTINATION lib)
install(DIRECTORY include/mdpcosim DESTINATION include)
install(DIRECTORY schema DESTINATION share/mdpcosim)
install(DIRECTORY examples DESTINATION share/mdpcosim PATTERN "*.out" EXCLUDE)
# Of any Python 3: it calls the library through ctypes.
install(DIRECTORY python/mdpcosim DESTINATION lib/python3/dist-packages PATTERN "__pycache__" EXCLUDE)
install(FILES LICENSE THIRD-PARTY.md CHANGELOG.md ${PROJECT_BINARY_DIR}/mdpcosim.spdx.json DESTINATION share/doc/mdpcosim)

# find_package(NAME), with the version of the project.
function(mdpcosim_package name)
  set(folder lib/cmake/${name})
  install(EXPORT ${name} NAMESPACE mdpcosim:: FILE ${name}-config.cmake DESTINATION ${folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/${name}-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/${name}-config-version.cmake DESTINATION ${folder})
endfunction()
mdpcosim_package(mdpcosim)
mdpcosim_package(mdpcosim_subsystem)

configure_file(cmake/mdpcosim.pc.in ${PROJECT_BINARY_DIR}/mdpcosim.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mdpcosim.pc DESTINATION lib/pkgconfig)
